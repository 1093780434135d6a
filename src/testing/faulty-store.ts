import { HoldfastError } from '../core/errors.ts'
import type { Unit, Verdict } from '../core/unit.ts'
import type { Store } from '../stores/store.ts'

/** What is to happen to a commit before it reaches the store. */
export type Fault = 'none' | 'fail' | 'crash_before' | 'crash_after'

/** A store that fails on command, and counts what is asked of it. */
export interface FaultyStore extends Store {
  /** Decides the fate of each commit; `number` counts from 1. */
  plan(fault: (units: readonly Unit[], number: number) => Fault): void
  /** Every commit fails as `store_unavailable` until `up`. */
  down(): void
  up(): void
  /** Commits wait here until the gate is opened. `beLate` says of those that wait that nobody can tell what became of them. */
  hold(): Hold
  /**
   * As if the process had died here: no call is answered any more, nothing is written, and the store beneath is
   * closed, so that it can be opened again.
   */
  crash(): Promise<void>
  readonly crashed: Promise<void>
  readonly commitCount: number
}

export interface Hold {
  open(): void
  beLate(): void
  readonly reached: Promise<void>
}

/** A store that does what the other one does, until it is told to fail. */
export function faultyStore(inner: Store): FaultyStore {
  const faults = new Faults(inner)
  const alive = <Value>(call: () => Promise<Value>) => faults.answer(call)
  return {
    kind: inner.kind,
    isDurable: inner.isDurable,
    isShared: inner.isShared,
    clock: inner.clock,
    open: () => inner.open(),
    close: async () => {
      if (!faults.isDead) await inner.close()
    },
    commit: (units, onLate) => faults.commit(units, onLate),
    allocate: (count) => alive(() => inner.allocate(count)),
    livePart: (key) => alive(() => inner.livePart(key)),
    snapshot: (key, limits) => alive(() => inner.snapshot(key, limits)),
    events: (key, query) => alive(() => inner.events(key, query)),
    messages: (key, query) => alive(() => inner.messages(key, query)),
    task: (id) => alive(() => inner.task(id)),
    tasks: (query) => alive(() => inner.tasks(query)),
    threads: (query) => alive(() => inner.threads(query)),
    questions: (query) => alive(() => inner.questions(query)),
    steps: (task, which) => alive(() => inner.steps(task, which)),
    claim: (query) => alive(() => inner.claim(query)),
    renew: (node, leaseMs) => alive(() => inner.renew(node, leaseMs)),
    watch: (listener) => inner.watch(listener),
    moved: (places) => alive(() => inner.moved(places)),
    plan: (fault) => {
      faults.plan = fault
    },
    down: () => {
      faults.plan = () => 'fail'
    },
    up: () => {
      faults.plan = () => 'none'
    },
    hold: () => faults.hold(),
    crash: () => faults.crash(),
    crashed: faults.crashed,
    get commitCount() {
      return faults.commitCount
    },
  }
}

class Faults {
  plan: (units: readonly Unit[], number: number) => Fault = () => 'none'
  isDead = false
  commitCount = 0
  readonly crashed: Promise<void>
  readonly #inner: Store
  readonly #tellCrashed: () => void
  #gate: { readonly passed: Promise<void>; readonly reach: (onLate: (() => void) | undefined) => void } | undefined

  constructor(inner: Store) {
    this.#inner = inner
    const { promise, resolve } = Promise.withResolvers<void>()
    this.crashed = promise
    this.#tellCrashed = resolve
  }

  answer<Value>(call: () => Promise<Value>): Promise<Value> {
    return this.isDead ? never() : this.#whileAlive(call())
  }

  async commit(units: readonly Unit[], onLate?: (why?: unknown) => void): Promise<Verdict[]> {
    if (this.isDead) return never()
    this.commitCount += 1
    const fault = this.plan(units, this.commitCount)
    const held = this.#gate
    held?.reach(onLate)
    await held?.passed
    if (fault === 'fail') throw new HoldfastError('store_unavailable', 'The store fails on command')
    if (fault === 'crash_before') void this.crash()
    if (this.isDead) return never()
    const verdicts = await this.#whileAlive(this.#inner.commit(units, onLate))
    if (fault === 'crash_after') void this.crash()
    return this.isDead ? never() : verdicts
  }

  /** The dead are told nothing, not even that their store was closed under them. */
  #whileAlive<Value>(answer: Promise<Value>): Promise<Value> {
    return answer.then(
      (value) => (this.isDead ? never() : value),
      (error: unknown) => (this.isDead ? never() : Promise.reject(error)),
    )
  }

  hold(): Hold {
    const passing = Promise.withResolvers<void>()
    const reaching = Promise.withResolvers<void>()
    const waiting: (() => void)[] = []
    const reach = (onLate: (() => void) | undefined) => {
      if (onLate) waiting.push(onLate)
      reaching.resolve()
    }
    this.#gate = { passed: passing.promise, reach }
    const open = () => {
      this.#gate = undefined
      passing.resolve()
    }
    const beLate = () => {
      for (const tell of waiting.splice(0)) tell()
    }
    return { open, beLate, reached: reaching.promise }
  }

  async crash(): Promise<void> {
    if (this.isDead) return
    this.isDead = true
    await this.#inner.close()
    this.#tellCrashed()
  }
}

function never<Value>(): Promise<Value> {
  return new Promise(() => {})
}
