import { ndjsonBeat, ndjsonLine, sseComment, sseFrame, sseLiveFrame, sseRetry } from '../../protocol/event-stream.ts'
import type { LogEntry } from '../../runtime/log-entry.ts'

type Batch = readonly LogEntry[]

/** How events look on one kind of stream. */
export interface StreamFormat {
  readonly contentType: string
  /** The answer where nothing can follow the start: a browser that is told 204 does not come back. */
  readonly statusWhenOver: 200 | 204
  /** What it begins with, sent along with the headers. */
  readonly opening?: Uint8Array
  /** Says that the connection is alive, and nothing else. */
  readonly beat: Uint8Array
  /** The bytes of a batch, encoded once for all who are given the same batch. */
  readonly encode: (batch: Batch) => Uint8Array
}

export const sse: StreamFormat = {
  contentType: 'text/event-stream; charset=utf-8',
  statusWhenOver: 204,
  opening: Buffer.from(sseRetry),
  beat: Buffer.from(sseComment),
  encode: encoder(sseFrame),
}

/** SSE that cannot be resumed: without ids. */
export const liveSse: StreamFormat = { ...sse, encode: encoder(sseLiveFrame) }

export const ndjson: StreamFormat = {
  contentType: 'application/x-ndjson; charset=utf-8',
  statusWhenOver: 200,
  beat: Buffer.from(ndjsonBeat),
  encode: encoder(ndjsonLine),
}

interface Encoded {
  readonly batch: Batch
  readonly bytes: Uint8Array
}

/**
 * Cursors at the same place of a thread are given the same array, so the bytes are kept as long as the array is. Those
 * with a filter are each given an array of their own; that of the one before, if it held the same events, has the bytes.
 */
function encoder(frame: (entry: LogEntry) => string): (batch: Batch) => Uint8Array {
  const shared = new WeakMap<Batch, Uint8Array>()
  const latest = new WeakMap<LogEntry, Encoded>()
  return (batch) => {
    const found = shared.get(batch)
    if (found) return found
    const [first] = batch
    const alike = first && latest.get(first)
    if (alike && isSame(alike.batch, batch)) return alike.bytes
    let text = ''
    for (const entry of batch) text += frame(entry)
    const bytes = Buffer.from(text)
    shared.set(batch, bytes)
    if (first) latest.set(first, { batch, bytes })
    return bytes
  }
}

function isSame(one: Batch, other: Batch): boolean {
  return one.length === other.length && one.every((entry, index) => entry === other[index])
}
