import { createParser } from 'eventsource-parser'
import { isHoldfastError } from '../core/errors.ts'
import type { ClientClock } from './clock.ts'
import { type Http, segment } from './http.ts'
import { Silence } from './silence.ts'
import type { Sink, Source, Wanted } from './source.ts'
import type { ThreadEvent } from './thread-event.ts'

export interface EventSourceParts {
  readonly http: Http
  readonly clock: ClientClock
}

/** Follows logs by SSE, with a request for each. */
export function eventSource(parts: EventSourceParts): Source {
  return {
    follow(wanted, sink) {
      const leaving = new AbortController()
      void follow(parts, wanted, sink, leaving.signal)
      return () => leaving.abort()
    },
  }
}

async function follow(parts: EventSourceParts, wanted: Wanted, sink: Sink, signal: AbortSignal): Promise<void> {
  try {
    const { thread, task, types } = wanted
    const place = thread === undefined ? '' : `/threads/${segment(thread)}`
    const query = { after: thread && sink.after, task, types: types?.join(',') }
    const headers = { accept: 'text/event-stream' }
    const response = await parts.http.open(`/v1${place}/events`, { query, headers, signal })
    if (signal.aborted) return
    if (response.status === 204) return sink.ended()
    // A page of something in between is read to its end, and was no stream.
    if (response.headers.get('content-type')?.includes(headers.accept)) sink.opened()
    for await (const text of frames(parts, response)) {
      if (signal.aborted) return
      sink.event(JSON.parse(text) as ThreadEvent, text.length)
    }
    if (!signal.aborted) sink.lost()
  } catch (error) {
    if (!signal.aborted) sink.lost(isHoldfastError(error) ? error : undefined)
  }
}

/**
 * The data of each frame, until the stream ends; a frame that was cut off is none. Throws if the connection breaks, and ends
 * if it has been silent for so long that it must have.
 */
async function* frames({ clock }: EventSourceParts, { body }: Response): AsyncGenerator<string, undefined> {
  const reader = body?.getReader()
  if (!reader) return
  const decoder = new TextDecoder()
  let whole: string[] = []
  const parser = createParser({ onEvent: ({ data }) => void whole.push(data) })
  try {
    for (;;) {
      // Counted only while something is waited for: a reader that takes its time is not the server's silence.
      const silence = new Silence(clock, () => void reader.cancel().catch(() => {}))
      const { done, value } = await reader.read().finally(() => silence.stop())
      if (done) return
      parser.feed(decoder.decode(value, { stream: true }))
      const next = whole
      whole = []
      yield* next
    }
  } finally {
    // It may be broken already, which is told to whoever reads.
    reader.cancel().catch(() => {})
  }
}
