// A message of the protocol is a letter, its length in four bytes that count themselves, and the rest.
const headLength = 5
const noticeLetter = 0x41

export interface ServerMessages {
  readonly bytes: Buffer
  readonly isNotice: boolean
}

/** Tells notices apart in what a PostgreSQL server sends over one connection without TLS, however it is cut into pieces. */
export class NoticeFilter {
  #rest: Buffer = Buffer.alloc(0)

  /** Whole messages: notices one by one, all others as they come together. */
  take(bytes: Buffer): ServerMessages[] {
    const found: ServerMessages[] = []
    const all = this.#rest.length === 0 ? bytes : Buffer.concat([this.#rest, bytes])
    let from = 0
    let at = 0
    while (all.length - at >= headLength) {
      const end = at + 1 + all.readUInt32BE(at + 1)
      if (end > all.length) break
      if (all[at] === noticeLetter) {
        if (at > from) found.push({ bytes: all.subarray(from, at), isNotice: false })
        found.push({ bytes: all.subarray(at, end), isNotice: true })
        from = end
      }
      at = end
    }
    if (at > from) found.push({ bytes: all.subarray(from, at), isNotice: false })
    this.#rest = all.subarray(at)
    return found
  }
}
