// Holds the lines of any batch but one of huge events.
const roomBytes = 1_048_576
// Of a character as JavaScript counts them.
const utf8BytesMax = 3

/** Text as UTF-8, one behind the other, in memory that another thread can see without a copy. */
export class LineBytes {
  #room: Buffer | undefined
  #length = 0

  get length(): number {
    return this.#length
  }

  /** What was written, in place: it is as it is until `clear`. */
  get bytes(): Uint8Array {
    return this.#room?.subarray(0, this.#length) ?? new Uint8Array()
  }

  /** Says how many bytes it took. */
  write(text: string): number {
    const written = this.#roomFor(text.length * utf8BytesMax).write(text, this.#length)
    this.#length += written
    return written
  }

  /** Begins anew. What was made for huge events is not kept. */
  clear(): void {
    this.#length = 0
    if (this.#room && this.#room.length > roomBytes) this.#room = undefined
  }

  #roomFor(bytes: number): Buffer {
    const needed = this.#length + bytes
    if (this.#room && needed <= this.#room.length) return this.#room
    const room = Buffer.from(new SharedArrayBuffer(Math.max(roomBytes, needed * 2)))
    if (this.#room) room.set(this.#room.subarray(0, this.#length))
    this.#room = room
    return room
  }
}
