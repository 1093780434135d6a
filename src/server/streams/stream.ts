import { isHoldfastError } from '../../core/errors.ts'
import { type LogBatch, LogStretch } from '../../runtime/log-stretch.ts'
import type { Logger } from '../../runtime/logger.ts'
import type { StreamFormat } from './encode-batch.ts'
import { FrameBuffer } from './frame-buffer.ts'
import type { Sink } from './sink.ts'
import type { StreamPlace, Watched } from './streams.ts'

/** What a stream reads from: a thread's log, or all of a principal's. */
export interface BatchSource {
  next(): Promise<LogBatch | undefined>
  close(): void
}

export interface StreamParts {
  readonly source: BatchSource
  readonly sink: Sink
  readonly format: StreamFormat
  readonly place: StreamPlace
  readonly log: Logger
}

/**
 * Carries batches from a source to a sink, one write per batch.
 *
 * T1 The next batch is asked for when the last one has found room: nothing gathers here, and whoever is slow is served
 *    by its cursor from where it is.
 * T2 When the sink closes the source is closed, and when the source is over the sink is ended. Nothing else is touched
 *    by either: a connection owns nothing.
 * T3 When the source fails the sink is cut: a regular end says that there is nothing more, which nobody knows then.
 *    Only where the rest of the log is gone is it ended, so that what was written before can still be taken.
 * T4 It is watched until the sink has closed, which after an end is when the reader has taken the rest.
 */
export class Stream implements Watched {
  readonly #parts: StreamParts
  /** While stored events follow each other: a stream that waits for new ones has none. */
  #frames: FrameBuffer | undefined

  private constructor(parts: StreamParts) {
    this.#parts = parts
  }

  static begin(parts: StreamParts): void {
    const stream = new Stream(parts)
    const { source, sink, place } = parts
    place.watch(stream)
    sink.onClosed(() => {
      source.close()
      place.close()
    })
    void stream.#carry()
  }

  get backlog(): number {
    return this.#parts.sink.backlog
  }

  get taken(): number {
    return this.#parts.sink.taken
  }

  beat(): void {
    const { sink, format } = this.#parts
    if (sink.backlog === 0) sink.write(format.beat)
  }

  end(): void {
    this.#parts.source.close()
    this.#parts.sink.end()
  }

  cut(): void {
    this.#parts.sink.cut()
  }

  async #carry(): Promise<void> {
    const { source, sink, log } = this.#parts
    try {
      let batch = await source.next()
      while (batch && !sink.isClosed) {
        const hasRoom = sink.write(this.#encoded(batch))
        // Nothing is kept of what was sent while there is nothing new.
        batch = undefined
        if (!hasRoom) await sink.drained()
        batch = await source.next()
      }
    } catch (error) {
      // The headers are gone, so the reader cannot be told here. It comes back with its last id and is told then.
      if (!isHoldfastError(error, 'offset_gone')) {
        log.warn({ err: error }, 'a stream was cut because the log could not be read')
        return this.cut()
      }
    }
    this.end()
  }

  #encoded(batch: LogBatch): Uint8Array {
    const { sink, format } = this.#parts
    if (!(batch instanceof LogStretch)) return format.encode(batch)
    // What the sink has not handed on yet is not written over.
    const frames = (sink.isFlushed && this.#frames) || new FrameBuffer()
    this.#frames = batch.reachesHead ? undefined : frames
    return format.encodeStored(batch, frames)
  }
}
