import type { Event } from '../../../src/index.ts'
import { systemClock, type Timer } from '../../../src/runtime/clock.ts'
import { type Ledger, startLedger } from '../../server/harness/ledger.ts'
import { makeFolder, TestServer } from '../../server/harness/server.ts'
import { type Entry, isAcknowledged } from '../journal.ts'
import { SeededRandom } from '../seeded-random.ts'
import { CuttingProxy } from './cutting-proxy.ts'

export interface WorldCounts {
  /** Streams that broke while the server was well, and were gone on with. */
  resumeCuts: number
  eventsSeen: number
  /** Requests that got no answer and were sent again under their key. */
  repeated: number
}

// Half of the connections break within their first answers or events, the others after some hundred.
const bytesShort = 2_000
const bytesLong = 40_000
// Far longer than a process takes to open, or a script to end.
const stallMs = 30_000
// Who ignores a cancel is closed within the time of a cycle.
const env = { HOLDFAST_GRACE_MS: '100' }

/** One store, the server processes that live and die on it, and all that their clients have written down. */
export class ServedWorld {
  readonly random: SeededRandom
  readonly ledger: Ledger
  /** The server itself, as it is now. */
  readonly server: TestServer
  /** The same over a line that breaks. */
  readonly breaking: TestServer
  readonly threads: readonly string[]
  readonly entries: Entry[] = []
  readonly counts: WorldCounts = { resumeCuts: 0, eventsSeen: 0, repeated: 0 }
  readonly diedAt: number[] = []
  acknowledgedCount = 0
  /** Of the process that answers. */
  life = 0
  isLoading = true
  readonly #proxy: CuttingProxy
  readonly #seen = new Map<string, string[]>()
  readonly #waiting = new Set<() => void>()
  #stallTimer: Timer | undefined
  #up = Promise.withResolvers<void>()
  #isUp = false

  private constructor(
    random: SeededRandom,
    ledger: Ledger,
    server: TestServer,
    breaking: TestServer,
    proxy: CuttingProxy,
  ) {
    this.random = random
    this.ledger = ledger
    this.server = server
    this.breaking = breaking
    this.#proxy = proxy
    this.threads = ['t0', 't1', 't2', 't3']
  }

  static async begin(seed: number): Promise<ServedWorld> {
    const random = new SeededRandom(seed)
    const folder = await makeFolder()
    const server = new TestServer({ store: 'sqlite', env }, folder)
    const bytes = () => random.below(random.chance(0.5) ? bytesShort : bytesLong)
    const proxy = await CuttingProxy.start(() => Number(new URL(server.url).port), bytes)
    const breaking = new TestServer({ store: 'sqlite' }, folder)
    breaking.url = proxy.url
    return new ServedWorld(random, await startLedger(), server, breaking, proxy)
  }

  get isUp(): boolean {
    return this.#isUp
  }

  /** Resolves when there is a server to ask; rejects if there will be none any more. */
  up(): Promise<void> {
    return this.#up.promise
  }

  async start(): Promise<void> {
    await this.server.start()
    this.life += 1
    this.#isUp = true
    this.#up.resolve()
  }

  async kill(): Promise<void> {
    // Who waits for a server already goes on waiting.
    if (this.#isUp) this.#up = Promise.withResolvers()
    this.#isUp = false
    await this.server.kill9()
    this.diedAt.push(systemClock.now())
  }

  /** Starts a process and kills it so much later, be it ready or not. */
  async startAndKill(afterMs: number): Promise<void> {
    const starting = this.server.start().catch(() => {})
    await pause(afterMs)
    await this.kill()
    await starting
  }

  journal(entry: Entry): void {
    this.entries.push(entry)
    if (!isAcknowledged(entry)) return
    this.acknowledgedCount += 1
    for (const wake of this.#waiting) wake()
    this.#waiting.clear()
  }

  async untilAcknowledged(count: number): Promise<void> {
    while (this.acknowledgedCount < count) await new Promise<void>((resolve) => this.#waiting.add(resolve))
  }

  /** Resolves when for a while nothing was acknowledged to anybody, which no healthy server lets happen. */
  async untilStalled(): Promise<void> {
    for (let before = -1; before !== this.acknowledgedCount; ) {
      before = this.acknowledgedCount
      await new Promise<void>((resolve) => {
        this.#stallTimer = systemClock.setTimer(stallMs, resolve)
      })
    }
    this.broken(`nothing was acknowledged for ${stallMs} ms`)
  }

  /** Keeps what a client was given, and complains if another was given something else under the same number. */
  see(thread: string, event: Event): void {
    const texts = this.#seen.get(thread) ?? []
    this.#seen.set(thread, texts)
    const text = JSON.stringify(event)
    this.counts.eventsSeen += 1
    texts[event.seq] ??= text
    if (texts[event.seq] !== text) this.broken(`${thread}: ${event.seq} was ${texts[event.seq]} and is ${text}`)
  }

  /** What was seen of a thread so far, by number. */
  seenOf(thread: string): readonly (string | undefined)[] {
    return [...(this.#seen.get(thread) ?? [])]
  }

  broken(what: string): void {
    this.journal({ kind: 'broken', what })
  }

  async end(): Promise<void> {
    this.isLoading = false
    this.#stallTimer?.cancel()
    // Clients that are still at it, because something went wrong, stop here.
    if (this.#isUp) this.#up = Promise.withResolvers()
    this.#up.promise.catch(() => {})
    this.#up.reject(new Error('The world has ended'))
    await this.#proxy.close()
    await this.server.end()
    await this.ledger.close()
  }
}

export function pause(ms: number): Promise<void> {
  return new Promise((resolve) => systemClock.setTimer(ms, resolve))
}
