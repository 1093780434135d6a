const letters = 'abcdefghijkmnpqrstuvwxyz23456789'

/** A name that nobody has to think of: short enough to say, long enough not to meet another. */
export function newThreadId(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(8))
  return `t-${Array.from(bytes, (byte) => letters[byte % letters.length]).join('')}`
}
