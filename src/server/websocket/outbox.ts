import type { Duplex } from 'node:stream'
import { queuedBytes } from '../streams/queued-bytes.ts'

const kib = 1024
// What waits for one connection, over all that is attached to it. What answers a request does not ask for room, since there
// was some when the request was taken up: one answer, of 256 KiB at most, may come on top.
const waitingBytesMax = 1024 * kib
// Room is for a whole group of events, so that what waits stays below the limit after it.
const roomBytes = 256 * kib
// Handed to the socket in one go. Small, because what was handed over cannot be let go of.
const writeBytes = 64 * kib

/** A message in one frame, or one that is too long to wait here whole: its frames, each made when it is asked for. */
export type OutgoingMessage = Buffer | Iterator<Buffer, void>

/**
 * What waits to be written to one connection.
 *
 * O1 Messages leave in the order in which they were pushed, and no frame of one falls between those of another. Only whole
 *    frames are handed to the socket: whatever `ws` writes to it by itself (a ping, a close) falls between two of them, and
 *    may fall between two of the same message.
 * O2 All that is pushed in one turn is one write.
 * O3 One write is under way at a time. The rest stays here, so that it can be let go when the reader is given up.
 * O4 Of a long message no more is made than is handed to the socket. While it is here there is no room: what it is made from
 *    is in memory, and nobody asks for more of that.
 */
export class Outbox {
  readonly #socket: Duplex
  readonly #isOpen: () => boolean
  #queue: OutgoingMessage[] = []
  #queuedBytes = 0
  #longCount = 0
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

  /** Bytes that the reader has taken, of writes that it has taken whole. */
  get takenBytes(): number {
    return this.#takenBytes
  }

  /** Changes when the reader takes something, also of the write that is under way, and stays while it takes nothing. */
  get progress(): number {
    return this.#takenBytes - (queuedBytes(this.#socket) ?? 0)
  }

  get isClosed(): boolean {
    return this.#isClosed
  }

  get hasRoom(): boolean {
    return this.#isClosed || (this.#longCount === 0 && this.waitingBytes + roomBytes <= waitingBytesMax)
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

  push(message: OutgoingMessage): void {
    if (this.#isClosed) return
    this.#queue.push(message)
    if (Buffer.isBuffer(message)) this.#queuedBytes += message.length
    else this.#longCount += 1
    if (this.#isScheduled || this.#isWriting) return
    this.#isScheduled = true
    process.nextTick(() => {
      this.#isScheduled = false
      this.#write()
    })
  }

  /**
   * Hands over what is left, up to the first long message: to hand over that would be to make all of it. Nothing can be
   * pushed after it, so whoever calls it closes the connection, if need be in the middle of that message.
   */
  end(): void {
    if (this.#isClosed) return
    const long = this.#queue.findIndex((message) => !Buffer.isBuffer(message))
    const whole = long === -1 ? this.#queue : this.#queue.slice(0, long)
    if (this.#isOpen()) this.#hand(whole.filter((message) => Buffer.isBuffer(message)))
    this.drop()
  }

  /** Lets go of what was not handed over. Nothing can be pushed after it. */
  drop(): void {
    this.#isClosed = true
    this.#queue = []
    this.#queuedBytes = 0
    this.#longCount = 0
    this.#wake()
  }

  #write(): void {
    if (this.#isClosed || this.#isWriting || this.#queue.length === 0) return
    if (!this.#isOpen()) return this.drop()
    const frames = this.#made()
    if (!frames) return
    // A long message was over with the last write, which only shows when it is asked for more.
    if (frames.length === 0) return this.#wake()
    const bytes = frames.reduce((sum, frame) => sum + frame.length, 0)
    this.#isWriting = true
    this.#hand(frames, () => {
      this.#isWriting = false
      this.#takenBytes += bytes
      this.#wake()
      this.#write()
    })
  }

  /** Undefined if they cannot be made. What was begun cannot be taken back, so the connection ends; nobody else notices. */
  #made(): Buffer[] | undefined {
    try {
      return this.#slice()
    } catch (error) {
      this.drop()
      this.#socket.destroy(error instanceof Error ? error : undefined)
      return undefined
    }
  }

  #slice(): Buffer[] {
    const frames: Buffer[] = []
    let bytes = 0
    for (let frame = this.#next(); frame; frame = bytes < writeBytes ? this.#next() : undefined) {
      frames.push(frame)
      bytes += frame.length
    }
    return frames
  }

  #next(): Buffer | undefined {
    const [message] = this.#queue
    if (message === undefined) return undefined
    if (Buffer.isBuffer(message)) {
      this.#queue.shift()
      this.#queuedBytes -= message.length
      return message
    }
    const { value: frame } = message.next()
    if (frame) return frame
    this.#queue.shift()
    this.#longCount -= 1
    return this.#next()
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
