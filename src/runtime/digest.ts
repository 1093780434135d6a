import { createHash } from 'node:crypto'

/** Tells whether two texts are the same without keeping either. */
export function digest(...texts: readonly string[]): string {
  const hash = createHash('sha256')
  // The length parts the texts, so that moving a character from one to the next is a difference.
  for (const text of texts) hash.update(`${text.length}:`).update(text)
  return hash.digest('base64url')
}
