import type { Duplex } from 'node:stream'

const kib = 1024
// What waits for one connection, over all that is attached to it. More only if one message is larger.
const waitingBytesMax = 1024 * kib
// Room is for a whole group of events, so that what waits stays below the limit after it.
const roomBytes = 256 * kib
// Handed to the socket in one go. Small, because whether a reader takes anything is only seen when all of it is taken.
const writeBytes = 64 * kib

/**
 * What waits to be written to one connection.
 *
 * O1 Messages leave in the order in which they were pushed, and only whole ones are handed to the socket: whatever
 *    `ws` writes to it by itself (a ping, a close) falls between two of them.
 * O2 All that is pushed in one turn is one write.
 * O3 One write is under way at a time. The rest stays here, so that it can be let go when the reader is given up.
 */
export class Outbox {
  readonly #socket: Duplex
  readonly #isOpen: () => boolean
  #queue: Buffer[] = []
  #queuedBytes = 0
  #isWriting = false
  #isScheduled = false
  #isClosed = false
  #takenBytes = 0
  #waiters: (() => void)[] = []

  /** `isOpen` tells whether the other side still wants messages: nothing may follow a close frame. */
  constructor(socket: Duplex, isOpen: () => boolean) {
    this.#socket = socket
    this.#isOpen = isOpen
  }

  /** Bytes that the reader has not taken. */
  get waitingBytes(): number {
    return this.#queuedBytes + this.#socket.writableLength
  }

  /** Bytes that the reader has taken. */
  get takenBytes(): number {
    return this.#takenBytes
  }

  get isClosed(): boolean {
    return this.#isClosed
  }

  get hasRoom(): boolean {
    return this.#isClosed || this.waitingBytes + roomBytes <= waitingBytesMax
  }

  /**
   * Acts when there is room, or when nothing will be written any more. Whoever waits longest is first, and the next
   * one is only let in if there is room after what it did.
   */
  whenRoom(act?: () => void): Promise<void> {
    if (this.hasRoom && this.#waiters.length === 0) {
      act?.()
      return Promise.resolve()
    }
    return new Promise((resolve) => {
      this.#waiters.push(() => {
        act?.()
        resolve()
      })
    })
  }

  push(frames: readonly Buffer[]): void {
    if (this.#isClosed) return
    for (const frame of frames) {
      this.#queue.push(frame)
      this.#queuedBytes += frame.length
    }
    if (this.#isScheduled || this.#isWriting) return
    this.#isScheduled = true
    process.nextTick(() => {
      this.#isScheduled = false
      this.#write()
    })
  }

  /** Hands over what is left. Nothing can be pushed after it. */
  end(): void {
    if (this.#isClosed) return
    if (this.#isOpen()) this.#hand(this.#queue)
    this.drop()
  }

  /** Lets go of what was not handed over. Nothing can be pushed after it. */
  drop(): void {
    this.#isClosed = true
    this.#queue = []
    this.#queuedBytes = 0
    this.#wake()
  }

  #write(): void {
    if (this.#isClosed || this.#isWriting || this.#queue.length === 0) return
    if (!this.#isOpen()) return this.drop()
    const frames = this.#slice()
    const bytes = frames.reduce((sum, frame) => sum + frame.length, 0)
    this.#isWriting = true
    this.#hand(frames, () => {
      this.#isWriting = false
      this.#takenBytes += bytes
      this.#wake()
      this.#write()
    })
  }

  #slice(): Buffer[] {
    let count = 0
    let bytes = 0
    while (count < this.#queue.length && bytes < writeBytes) {
      bytes += this.#queue[count]?.length ?? 0
      count += 1
    }
    this.#queuedBytes -= bytes
    return this.#queue.splice(0, count)
  }

  #hand(frames: readonly Buffer[], onTaken?: () => void): void {
    this.#socket.cork()
    for (const [index, frame] of frames.entries()) {
      // The error is told by the socket itself, which closes the connection.
      this.#socket.write(frame, index === frames.length - 1 && onTaken ? () => onTaken() : undefined)
    }
    this.#socket.uncork()
  }

  #wake(): void {
    while (this.hasRoom && this.#waiters.length > 0) this.#waiters.shift()?.()
  }
}
