import type { ThreadKey } from '../core/id.ts'
import type { Clock, Timer } from './clock.ts'

const keptBytesMax = 8 * 1024 * 1024
// Of stretches that were asked for, whether something is kept of them or not.
const keptCountMax = 1024
// Less is made again sooner than it is looked up.
const lengthMin = 32 * 1024
// Readers that come because a connection broke or a page was opened come within moments.
const sweepMs = 5000

interface Kept {
  readonly thread: ThreadKey
  /** By who made it; empty until it is asked for a second time. */
  readonly bytes: Map<object, Uint8Array>
  isUsed: boolean
}

/**
 * What was made of stored events that are read again and again, as when all who watched a thread come back at once.
 *
 * H1 It is asked for with rows that were just read, so nothing is handed out that the store does not hold.
 * H2 Nothing is kept for the first who asks: most logs are not read twice in a row, and to keep bytes costs memory.
 * H3 It holds 8 MiB at most; what was used longest ago goes first. Nothing stays for 10 s without being used. When this
 *    node removes something of a thread, all that is kept of it goes at once, and of an erased one nothing comes again.
 */
export class StretchCache {
  readonly #clock: Clock
  readonly #kept = new Map<string, Kept>()
  #bytes = 0
  #timer: Timer | undefined
  #isClosed = false

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** How many bytes are kept. */
  get bytes(): number {
    return this.#bytes
  }

  /** What `maker` makes, from here if it is. `name` tells the stretch from all others of its thread. */
  made(thread: ThreadKey, name: string, length: number, maker: object, make: () => Uint8Array): Uint8Array {
    if (length < lengthMin || this.#isClosed) return make()
    const id = `${name} ${thread}`
    const known = this.#kept.get(id)
    const bytes = known?.bytes.get(maker) ?? make()
    this.#use(id, known ?? { thread, bytes: new Map(), isUsed: true })
    if (!known) this.#shrink()
    if (!known || known.bytes.has(maker)) return bytes
    // A copy, because what was made may be in memory that is used again.
    const copy = Buffer.from(bytes)
    known.bytes.set(maker, copy)
    this.#bytes += copy.length
    this.#shrink()
    return copy
  }

  /** Something of the thread was removed. */
  forget(thread: ThreadKey): void {
    for (const [id, kept] of this.#kept) if (kept.thread === thread) this.#drop(id, kept)
  }

  close(): void {
    this.#isClosed = true
    for (const [id, kept] of this.#kept) this.#drop(id, kept)
    this.#timer?.cancel()
    this.#timer = undefined
  }

  /** The last in the map is what was used last. */
  #use(id: string, kept: Kept): void {
    kept.isUsed = true
    this.#kept.delete(id)
    this.#kept.set(id, kept)
    this.#timer ??= this.#clock.setTimer(sweepMs, () => this.#sweep())
  }

  #shrink(): void {
    for (const [id, kept] of this.#kept) {
      if (this.#bytes <= keptBytesMax && this.#kept.size <= keptCountMax) return
      this.#drop(id, kept)
    }
  }

  #sweep(): void {
    this.#timer = undefined
    for (const [id, kept] of this.#kept) {
      if (!kept.isUsed) this.#drop(id, kept)
      kept.isUsed = false
    }
    if (this.#kept.size > 0) this.#timer = this.#clock.setTimer(sweepMs, () => this.#sweep())
  }

  #drop(id: string, { bytes }: Kept): void {
    this.#kept.delete(id)
    for (const each of bytes.values()) this.#bytes -= each.length
  }
}
