import type { ThreadKey } from '../core/id.ts'
import { turnBytes } from './lanes.ts'
import { Waiters } from './waiters.ts'
import type { Writer } from './writer.ts'

// A task that waits for room stops here, so memory is bounded by the tasks that do not wait. Half of it is on its way
// while the other half gathers.
const roomBytes = 512 * 1024
// While a whole batch waits already it stops at what its next turn can take, so that many tasks together neither hold up
// the event loop with what they emit in one go nor queue up for long; one that emits little never waits for the others.
const crowdedRoomBytes = turnBytes
// More than this unflushed is a task that floods and never waits for room.
export const unflushedBytesMax = 8 * 1024 * 1024

const ready = Promise.resolve()

type Surroundings = Pick<Writer, 'isDown' | 'isCrowded' | 'isLocked'>

/** How much one execution may emit before it waits for what it emitted to be committed. */
export class Room {
  readonly #writer: Surroundings
  readonly #thread: ThreadKey
  #unflushedBytes = 0
  /** What gathered while the store was down, or the thread locked: no task fails for that. */
  #excusedBytes = 0
  readonly #waiters = new Waiters()

  constructor(writer: Surroundings, thread: ThreadKey) {
    this.#writer = writer
    this.#thread = thread
  }

  /** It never waited, and has emitted more than anybody may. */
  get isOverrun(): boolean {
    return this.#unflushedBytes - this.#excusedBytes > unflushedBytesMax
  }

  take(bytes: number): void {
    this.#unflushedBytes += bytes
    if (this.#writer.isDown || this.#writer.isLocked(this.#thread)) this.#excusedBytes += bytes
  }

  give(bytes: number): void {
    this.#unflushedBytes -= bytes
    if (!this.#hasRoom) return
    this.#excusedBytes = 0
    this.release()
  }

  /** Resolves when there is room for more. */
  wait(): Promise<void> {
    if (this.#hasRoom) return ready
    return this.#waiters.wait()
  }

  /** Lets go on whoever waits, room or not. */
  release(): void {
    this.#waiters.release()
  }

  get #hasRoom(): boolean {
    return this.#unflushedBytes < (this.#writer.isCrowded ? crowdedRoomBytes : roomBytes)
  }
}
