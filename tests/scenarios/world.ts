import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { afterEach, describe } from 'vitest'
import type { Event } from '../../src/core/event.ts'
import type { Unit } from '../../src/core/unit.ts'
import { type CreateRuntimeOptions, createRuntime, type SubscribeOptions } from '../../src/index.ts'
import type { Runtime } from '../../src/runtime/runtime.ts'
import { memoryStore } from '../../src/stores/memory/index.ts'
import { postgresStore } from '../../src/stores/postgres/index.ts'
import { sqliteStore } from '../../src/stores/sqlite/index.ts'
import type { Store } from '../../src/stores/store.ts'
import { type Fault, type FaultyStore, faultyStore } from '../../src/testing/faulty-store.ts'
import { type ManualClock, manualClock } from '../../src/testing/manual-clock.ts'
import { type TestSchema, testSchema } from '../postgres/harness/schema.ts'
import { type MortalClock, mortalClock } from './mortal-clock.ts'
import { type Traffic, watchedStore } from './watched-store.ts'

export type StoreKind = 'memory' | 'sqlite' | 'postgres'

/** Runtimes on one store, one after the other, on a clock that the test moves. */
export interface World {
  readonly clock: ManualClock
  /** The store of the runtime that was opened last; it fails on command. */
  readonly store: FaultyStore
  /** Every unit that was committed, whichever runtime wrote it. */
  readonly committed: readonly Unit[]
  /**
   * Opens a runtime on the world's data. `fault` decides the fate of each of its commits, from the first on; `changed` gives it
   * another store in the place of that one.
   */
  open(
    options?: Omit<CreateRuntimeOptions, 'store' | 'clock'>,
    fault?: CommitFault,
    changed?: (store: Store) => Store,
  ): Promise<Runtime>
  /** Kills the runtime that was opened last, as `kill -9` would: nothing more is written or answered. */
  crash(): Promise<void>
  /** Resolves when nothing is being done any more: what is left waits for time, or for the test. */
  quiet(): Promise<void>
  /** Closes what is open and removes the data. */
  end(): Promise<void>
}

export type CommitFault = (units: readonly Unit[], number: number) => Fault

// A killed process takes its listeners with it; here those of all processes gather in one.
process.setMaxListeners(0)

// More turns of the event loop than any chain of promises and immediates takes between two calls of the store.
const quietTurns = 20

/**
 * Registers the same tests once per store. Where a server is there for it, what is meant for every durable store is run on
 * PostgreSQL, and only there.
 */
export function onEachStore(
  kinds: readonly StoreKind[],
  register: (kind: StoreKind, world: () => World) => void,
): void {
  const isOnPostgres = process.env['HOLDFAST_TEST_STORE'] === 'postgres' && kinds.includes('sqlite')
  for (const kind of isOnPostgres ? (['postgres'] as const) : kinds) {
    describe(kind, () => {
      const made: TestWorld[] = []
      afterEach(async () => {
        for (const world of made.splice(0)) await world.end()
      })
      register(kind, () => {
        const world = new TestWorld(kind)
        made.push(world)
        return world
      })
    })
  }
}

/** A world that its maker ends. */
export function createWorld(kind: StoreKind): World {
  return new TestWorld(kind)
}

class TestWorld implements World {
  readonly clock: ManualClock
  readonly #kind: StoreKind
  #folder: Promise<string> | undefined
  #memory: Store | undefined
  #schema: TestSchema | undefined
  #store: FaultyStore | undefined
  #life: MortalClock | undefined
  #runtimes: Runtime[] = []
  readonly #traffic: Traffic = { callCount: 0, underWayCount: 0, onAnswered: [], committed: [] }

  constructor(kind: StoreKind) {
    this.#kind = kind
    const startAt = 1_700_000_000_000
    this.clock = kind === 'postgres' ? manualClock(startAt, () => this.#settle()) : manualClock(startAt)
  }

  get store(): FaultyStore {
    if (!this.#store) throw new Error('Open a runtime first')
    return this.#store
  }

  get committed(): readonly Unit[] {
    return this.#traffic.committed
  }

  async open(
    options: Omit<CreateRuntimeOptions, 'store' | 'clock'> = {},
    fault?: CommitFault,
    changed: (store: Store) => Store = (store) => store,
  ): Promise<Runtime> {
    this.#store = faultyStore(watchedStore(await this.#inner(), this.#traffic))
    if (fault) this.#store.plan(fault)
    this.#life = mortalClock(this.clock)
    const runtime = createRuntime({ ...options, store: changed(this.#store), clock: this.#life })
    this.#runtimes.push(runtime)
    await runtime.opened()
    return runtime
  }

  async crash(): Promise<void> {
    this.#life?.kill()
    void this.store.crash()
    await this.store.crashed
    this.#runtimes = []
    // Other nodes would wait for the lease of the killed one to run out; here no time passes for it.
    await this.#schema?.query('DELETE FROM holdfast.nodes')
  }

  async quiet(): Promise<void> {
    const traffic = this.#traffic
    for (let still = 0, calls = -1; still < quietTurns; still += 1) {
      await nextTurn()
      if (traffic.callCount !== calls) still = 0
      calls = traffic.callCount
      if (traffic.underWayCount > 0) await new Promise<void>((resolve) => traffic.onAnswered.push(resolve))
    }
  }

  /** Lets what was asked of the store be answered, and what follows from it, some times over: not until all is quiet. */
  async #settle(): Promise<void> {
    const traffic = this.#traffic
    for (let turn = 0; turn < quietTurns; turn += 1) {
      await nextTurn()
      if (traffic.underWayCount > 0) await new Promise<void>((resolve) => traffic.onAnswered.push(resolve))
    }
  }

  async end(): Promise<void> {
    for (const runtime of this.#runtimes.splice(0)) await runtime.close({ drainMs: 0 })
    if (this.#folder) await rm(await this.#folder, { recursive: true, force: true })
    await this.#schema?.drop()
  }

  async #inner(): Promise<Store> {
    if (this.#kind === 'memory') {
      this.#memory ??= memoryStore({ clock: this.clock })
      return this.#memory
    }
    if (this.#kind === 'postgres') {
      this.#schema ??= testSchema()
      return postgresStore({ url: this.#schema.url, clock: this.clock })
    }
    this.#folder ??= mkdtemp(join(tmpdir(), 'holdfast-'))
    return sqliteStore({ path: join(await this.#folder, 'holdfast.db'), clock: this.clock })
  }
}

/** Collects events of a thread until one of them satisfies `isLast`, which is included. */
export async function eventsUntil(
  runtime: Runtime,
  options: SubscribeOptions,
  isLast: (event: Event) => boolean,
): Promise<Event[]> {
  const events: Event[] = []
  for await (const event of runtime.subscribe(options)) {
    events.push(event)
    if (isLast(event)) break
  }
  return events
}

/** All events of a task, to its end. */
export function eventsOf(runtime: Runtime, thread: string, task: string): Promise<Event[]> {
  return eventsUntil(runtime, { thread, task }, () => false)
}

/** The whole log of a thread as it is now. */
export async function logOf(runtime: Runtime, thread: string): Promise<Event[]> {
  const { head } = await runtime.thread(thread)
  if (head === 0) return []
  return eventsUntil(runtime, { thread }, (event) => event.seq >= head)
}

/** A promise that the test settles by hand, for agents that wait for the test. */
export function gate<Value = void>(): { opened: Promise<Value>; open(value: Value): void } {
  const { promise, resolve } = Promise.withResolvers<Value>()
  return { opened: promise, open: resolve }
}
