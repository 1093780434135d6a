// Of a character as JavaScript counts them.
const utf8BytesMax = 3
// Frames are joined up to this length and encoded together, which costs less than half of what each by itself does. One text for
// all of a batch would not be made where what is young is made, and cost twice as much as it need.
const joinedLengthMax = 32_768

/** The bytes of texts, one after the other, in memory that is used again and again: fresh memory costs more than what is done in it. */
export class FrameBuffer {
  #bytes = Buffer.alloc(0)
  #end = 0
  #text = ''

  /**
   * Forgets what was added and not taken, because whoever added it failed. Makes room for texts that are together about so long, if
   * there is none yet; more is made when more is needed.
   */
  begin(length = 0): void {
    this.#end = 0
    this.#text = ''
    if (this.#bytes.length === 0) this.#grow(length + Math.min(length, joinedLengthMax) * utf8BytesMax)
  }

  add(text: string): void {
    this.#text += text
    if (this.#text.length >= joinedLengthMax) this.#write()
  }

  /** What was added since the last call. It is good until something is added again. */
  take(): Uint8Array {
    this.#write()
    const taken = this.#bytes.subarray(0, this.#end)
    this.#end = 0
    return taken
  }

  #write(): void {
    const text = this.#text
    this.#text = ''
    if (this.#end + text.length * utf8BytesMax > this.#bytes.length) {
      const needed = this.#end + Buffer.byteLength(text)
      if (needed > this.#bytes.length) this.#grow(needed + needed / 4)
    }
    this.#end += this.#bytes.write(text, this.#end)
  }

  #grow(bytes: number): void {
    const larger = Buffer.allocUnsafeSlow(Math.ceil(bytes))
    this.#bytes.copy(larger, 0, 0, this.#end)
    this.#bytes = larger
  }
}
