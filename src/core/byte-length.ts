/** Bytes of a text in UTF-8, without encoding it. */
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
