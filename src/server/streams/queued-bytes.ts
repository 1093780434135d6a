import type { Duplex } from 'node:stream'

/**
 * What the operating system has not taken yet of the write that is under way; undefined if that cannot be told. `writableLength`
 * counts a write until the whole of it is gone, so that a slow reader of a large one would seem to take nothing. What is written
 * behind it is not counted, and with TLS a write is gone all at once.
 */
export function queuedBytes(socket: Duplex): number | undefined {
  const { _handle: handle } = socket as { readonly _handle?: { readonly writeQueueSize?: number } | null }
  return handle?.writeQueueSize
}
