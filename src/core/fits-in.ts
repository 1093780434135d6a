/** Whether a text takes at most so many bytes in UTF-8. Most are short enough to tell without counting. */
export function fitsIn(text: string, bytesMax: number): boolean {
  // Three bytes is the most that a UTF-16 unit takes.
  return text.length * 3 <= bytesMax || byteLength(text) <= bytesMax
}

/** What a text takes in UTF-8. Counted, not encoded. */
export function byteLength(text: string): number {
  let bytes = text.length
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i)
    if (unit > 0x7ff) bytes += 2
    else if (unit > 0x7f) bytes += 1
    // A surrogate pair is two units and four bytes.
    if (unit >= 0xd800 && unit <= 0xdbff) bytes -= 2
  }
  return bytes
}
