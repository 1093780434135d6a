import { isUtf8 } from 'node:buffer'
import type { IncomingMessage } from 'node:http'
import { HoldfastError } from '../core/errors.ts'
import type { Limits } from '../core/limits.ts'
import { parseJson } from '../protocol/json.ts'
import type { AppContext } from './app-env.ts'

/** The JSON of a request. No body at all is an empty object: where every field is optional, nothing needs to be said. */
export async function readJson(c: AppContext, { bodyBytes, jsonDepth }: Limits): Promise<unknown> {
  const { headers } = c.req.raw
  const declared = Number(headers.get('content-length') ?? 0)
  if (declared > bodyBytes) throw tooLarge(bodyBytes)
  const incoming = unreadIncoming(c)
  // What somebody else has read would look like no body at all, and asking for less is sometimes asking for more.
  if (!incoming && c.req.raw.bodyUsed) throw readBefore()
  const bytes = incoming ? await readIncoming(incoming, bodyBytes) : await readStream(c.req.raw.body, bodyBytes)
  if (bytes.length === 0) {
    if (declared > 0) throw readBefore()
    // Of a body in chunks nobody knows beforehand how long it is: an empty one looks like one that was read before.
    if (!incoming && headers.has('transfer-encoding')) {
      throw readBefore('The body was read before, or is empty though it comes in chunks. Who has none sends no chunks')
    }
    return {}
  }
  if (!isUtf8(bytes)) throw new HoldfastError('invalid_request', 'The body is not valid UTF-8')
  return parseJson(bytes.toString('utf8'), jsonDepth)
}

/** Node's own request, unless whoever serves has read from it before: reading it so costs a fraction of a web stream. */
function unreadIncoming(c: AppContext): IncomingMessage | undefined {
  const incoming = c.env?.incoming
  if (incoming?.httpVersionMajor !== 1 || 'rawBody' in incoming) return undefined
  return incoming.readableDidRead || incoming.destroyed ? undefined : incoming
}

function readIncoming(incoming: IncomingMessage, bytesMax: number): Promise<Buffer> {
  const { promise, resolve, reject } = Promise.withResolvers<Buffer>()
  const chunks: Buffer[] = []
  let size = 0
  const onData = (chunk: Buffer): void => {
    size += chunk.length
    chunks.push(chunk)
    if (size > bytesMax) stop(() => reject(tooLarge(bytesMax)))
  }
  const onEnd = (): void => stop(() => resolve(chunks.length === 1 && chunks[0] ? chunks[0] : Buffer.concat(chunks)))
  const onGone = (): void => stop(() => reject(cutShort()))
  const stop = (settle: () => void): void => {
    incoming.off('data', onData).off('end', onEnd).off('error', onGone).off('close', onGone)
    incoming.pause()
    settle()
  }
  incoming.on('data', onData).on('end', onEnd).on('error', onGone).on('close', onGone)
  return promise
}

async function readStream(body: ReadableStream<Uint8Array> | null, bytesMax: number): Promise<Buffer> {
  const reader = body?.getReader()
  const chunks: Uint8Array[] = []
  let size = 0
  while (reader) {
    const { done, value } = await nextOf(reader)
    if (done) break
    size += value.length
    if (size > bytesMax) {
      // What its source makes of that is none of ours; nothing more is read.
      reader.cancel().catch(() => {})
      throw tooLarge(bytesMax)
    }
    chunks.push(value)
  }
  return Buffer.concat(chunks)
}

async function nextOf(reader: ReadableStreamDefaultReader<Uint8Array>) {
  try {
    return await reader.read()
  } catch (cause) {
    throw cutShort(cause)
  }
}

function readBefore(what = 'The body was read before it came here'): HoldfastError {
  return new HoldfastError('invalid_request', `${what}. Mount the handler of Holdfast before whatever parses bodies`)
}

function cutShort(cause?: unknown): HoldfastError {
  return new HoldfastError('invalid_request', 'The body ended before it was complete', { cause })
}

function tooLarge(bytesMax: number): HoldfastError {
  return new HoldfastError('too_large', `The body is larger than ${bytesMax} bytes (bodyBytes)`)
}
