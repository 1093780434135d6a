import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { SeededRandom } from '../../src/chaos/seeded-random.ts'
import { createRuntime } from '../../src/index.ts'
import { Child, type ChildEnd } from './child.ts'
import { type Case, type History, readHistory } from './history.ts'
import { type Asking, type Entry, isAcknowledged } from './journal.ts'
import { readEffects } from './ledger.ts'
import type { LifeOptions } from './load-process.ts'

/** Sees each entry of a process, and the number of operations acknowledged to it so far; says when it is to end. */
export type IsEnough = (entry: Entry, acknowledgedCount: number, child: Child) => boolean

/** How a process ends: killed, asked to close, or killed while it closes. */
export type Death = 'kill' | 'close' | 'kill closing'

// The last ones a process sent are those whose answers may be lost.
const askingsMax = 8
const threadCount = 3
// After so many lives others take over, so that no log grows without end.
const livesPerThreads = 20

/** One store, and the processes that live and die on it. What they write down is kept here. */
export class Lives {
  readonly random: SeededRandom
  readonly #folder: string
  #store: string
  readonly #entries: Entry[] = []
  readonly #diedAt: number[] = []
  /** Where the furthest subscriber of each thread stood. */
  readonly #seen = new Map<string, number>()
  #askings: readonly Asking[] = []
  #lifeCount = 0

  /** In a folder of its own, removed by `end`. The store may stand elsewhere, such as on another disk. */
  static async begin(seed: number, store?: string): Promise<Lives> {
    const folder = await mkdtemp(join(tmpdir(), 'holdfast-crash-'))
    return new Lives(folder, store ?? join(folder, 'store.db'), seed)
  }

  private constructor(folder: string, store: string, seed: number) {
    this.#folder = folder
    this.#store = store
    this.random = new SeededRandom(seed)
  }

  /** Goes on with a copy of the store. */
  moveTo(store: string): void {
    this.#store = store
  }

  /** Lets a process load the store until it is enough, and ends it there. */
  async load(isEnough: IsEnough, death: Death = 'kill'): Promise<void> {
    let count = 0
    let isEnding = false
    const end = await this.#live('load', (entry, child) => {
      if (isAcknowledged(entry)) count += 1
      if (entry.kind === 'closing' && death === 'kill closing') child.kill()
      if (isEnding || !isEnough(entry, count, child)) return
      isEnding = true
      if (death === 'kill') child.kill()
      else child.stop()
    })
    // A close may be done before the kill has come.
    const isAsPlanned = (death !== 'kill' && end.code === 0) || (death !== 'close' && end.signal === 'SIGKILL')
    if (!isAsPlanned) throw new Error(`A process that was to ${death} ended otherwise: ${JSON.stringify(end)}`)
  }

  /** Lets a process finish what is left, and reads what came of it all. */
  async finish(): Promise<Case> {
    const end = await this.#live('drain', () => {})
    if (end.code !== 0) throw new Error(`A process that was to finish its tasks did not: ${JSON.stringify(end)}`)
    const effects = readEffects(join(this.#folder, 'ledger'))
    return { ...(await readStore(this.#store)), entries: this.#entries, effects, diedAt: this.#diedAt }
  }

  async end(): Promise<void> {
    await rm(this.#folder, { recursive: true, force: true })
  }

  async #live(does: LifeOptions['does'], onEntry: (entry: Entry, child: Child) => void): Promise<ChildEnd> {
    const child = new Child('./load-process.ts', this.#options(does), onEntry)
    const end = await child.ended()
    if (end.signal === 'SIGKILL') this.#diedAt.push(Date.now())
    this.#remember(child.entries)
    return end
  }

  #options(does: LifeOptions['does']): LifeOptions {
    this.#lifeCount += 1
    const threads = threadsOf(this.#lifeCount)
    for (const thread of threads) if (!this.#seen.has(thread)) this.#seen.set(thread, 0)
    return {
      store: this.#store,
      ledger: join(this.#folder, 'ledger'),
      seed: this.random.below(2 ** 31),
      life: `life${this.#lifeCount}`,
      does,
      threads,
      seen: Object.fromEntries(threads.map((thread) => [thread, this.#after(thread)])),
      askings: this.#askings,
    }
  }

  /** Mostly where the last subscriber stood; now and then somewhere before. */
  #after(thread: string): number {
    const seen = this.#seen.get(thread) ?? 0
    return this.random.chance(0.8) ? seen : this.random.below(seen + 1)
  }

  #remember(entries: readonly Entry[]): void {
    for (const entry of entries) {
      this.#entries.push(entry)
      if (entry.kind === 'saw') this.#seen.set(entry.thread, Math.max(entry.seq, this.#seen.get(entry.thread) ?? 0))
    }
    this.#askings = entries.flatMap((entry) => (entry.kind === 'asking' ? [entry.asking] : [])).slice(-askingsMax)
  }
}

function threadsOf(life: number): string[] {
  const turn = Math.floor((life - 1) / livesPerThreads)
  return Array.from({ length: threadCount }, (_, index) => `t${turn}.${index}`)
}

/** Reads a store that nobody has open. There are no agents, so nothing in it can go on. */
export async function readStore(path: string): Promise<History> {
  const runtime = createRuntime({ store: `sqlite:${path}` })
  try {
    return await readHistory(runtime)
  } finally {
    await runtime.close()
  }
}
