import { ndjsonBeat, ndjsonLine, sseComment, sseFrame, sseLiveFrame, sseRetry } from '../../protocol/event-stream.ts'
import type { LogEntry } from '../../runtime/log-entry.ts'
import { madeOnce } from '../made-once.ts'

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

// Of a character as JavaScript counts them.
const utf8BytesMax = 3
// Holds any batch but one of a single huge event.
const roomBytes = 1_048_576
let room: Buffer | undefined

/**
 * Each frame is written by itself: to join them to one text first and encode that takes more than twice as long, because
 * so large a text is not made where what is young is made.
 */
function encoder(frame: (entry: LogEntry) => string): (batch: Batch) => Uint8Array {
  return madeOnce((batch) => {
    room ??= Buffer.allocUnsafeSlow(roomBytes)
    const full: Buffer[] = []
    let end = 0
    for (const entry of batch) {
      const text = frame(entry)
      const bytesMax = text.length * utf8BytesMax
      if (end + bytesMax > room.length) {
        full.push(Buffer.from(room.subarray(0, end)))
        end = 0
      }
      if (bytesMax > room.length) full.push(Buffer.from(text))
      else end += room.write(text, end)
    }
    const last = Buffer.from(room.subarray(0, end))
    return full.length === 0 ? last : Buffer.concat([...full, last])
  })
}
