import { ndjsonBeat, ndjsonLine, sseComment, sseFrame, sseLiveFrame, sseRetry } from '../../protocol/event-stream.ts'
import type { LogEntry } from '../../runtime/log-entry.ts'
import type { LogStretch } from '../../runtime/log-stretch.ts'
import { madeOnce } from '../made-once.ts'
import { FrameBuffer } from './frame-buffer.ts'

type Framed = Pick<LogEntry, 'seq' | 'text'>

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
  readonly encode: (batch: readonly LogEntry[]) => Uint8Array
  /** The bytes of events as they are stored: in a buffer of the caller, or as they were made for others. */
  readonly encodeStored: (stretch: LogStretch, into: FrameBuffer) => Uint8Array
}

export const sse: StreamFormat = {
  contentType: 'text/event-stream; charset=utf-8',
  statusWhenOver: 204,
  opening: Buffer.from(sseRetry),
  beat: Buffer.from(sseComment),
  ...encoding(sseFrame),
}

/** SSE that cannot be resumed: without ids. */
export const liveSse: StreamFormat = { ...sse, ...encoding(sseLiveFrame) }

export const ndjson: StreamFormat = {
  contentType: 'application/x-ndjson; charset=utf-8',
  statusWhenOver: 200,
  beat: Buffer.from(ndjsonBeat),
  ...encoding(ndjsonLine),
}

// Batches that are kept are encoded here and copied, so that each is kept in as much memory as it needs.
const shared = new FrameBuffer()

type Encoding = Pick<StreamFormat, 'encode' | 'encodeStored'>

function encoding(frame: (entry: Framed) => string): Encoding {
  return {
    encode: madeOnce((batch) => {
      shared.begin()
      for (const entry of batch) shared.add(frame(entry))
      return Buffer.from(shared.take())
    }),
    encodeStored: (stretch, into) =>
      stretch.made(frame, () => {
        into.begin(stretch.length)
        stretch.texts((seq, text) => into.add(frame({ seq, text })))
        return into.take()
      }),
  }
}
