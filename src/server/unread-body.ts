import type { IncomingMessage, ServerResponse } from 'node:http'

// So much is thrown away behind an answer. Whoever sends more is cut off, and may not see it.
const discardedBytesMax = 64 * 1024 * 1024

/** Whether the body of a request is still to come. What is left of it would be read as the next request. */
export function isBodyUnread(incoming: IncomingMessage | undefined): incoming is IncomingMessage {
  return incoming !== undefined && incoming.httpVersionMajor === 1 && !incoming.complete
}

/**
 * Answers a request whose body is still to come. Many a client reads nothing before it has sent everything, and would see a broken
 * connection instead of the answer if that ended now: so it ends when the body does. How long that may take is bounded by the server.
 */
export function answerUnread(incoming: IncomingMessage, outgoing: ServerResponse, text: string): void {
  let byteCount = 0
  const onData = (chunk: Buffer): void => {
    byteCount += chunk.length
    if (byteCount > discardedBytesMax) end()
  }
  const end = (): void => {
    incoming.off('data', onData).off('end', end).off('close', end).pause()
    outgoing.end()
  }
  outgoing.write(text)
  incoming.on('data', onData).on('end', end).on('close', end).resume()
}
