/** What is known of a request that was accepted under a key: its digest and, if it steered a run, the message that it became. */
export interface RememberedRequest {
  readonly digest: string
  readonly steered?: string
}

/**
 * Both as one text, under which a store keeps the key. Without the message a repeated request could not be told from one that was
 * accepted as the run it is answered with. Neither part has a space in it.
 */
export function steeredDigest(digest: string, message: string): string {
  return `${digest} ${message}`
}

export function rememberedRequest(text: string): RememberedRequest {
  const [digest = '', steered] = text.split(' ')
  return { digest, ...(steered !== undefined && { steered }) }
}
