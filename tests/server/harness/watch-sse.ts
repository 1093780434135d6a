import { createParser } from 'eventsource-parser'
import type { Event } from '../../../src/core/event.ts'
import { type Problem, Refused } from './refused.ts'
import type { TestServer } from './server.ts'
import { Tape, type Watcher } from './tape.ts'

export interface WatchOptions {
  readonly thread: string
  readonly task?: string
  readonly after?: number
  readonly types?: string
  readonly as?: string
}

/** Watches a log as an EventSource does. Resolves once the server has answered; rejects with what it refuses. */
export async function watchSse(server: TestServer, options: WatchOptions): Promise<Watcher> {
  const { thread, task, after = 0, types } = options
  const query = new URLSearchParams({ ...(task !== undefined && { task }), ...(types !== undefined && { types }) })
  const leaving = new AbortController()
  const response = await fetch(`${server.url}/v1/threads/${encodeURIComponent(thread)}/events?${query.toString()}`, {
    headers: { ...server.authorization(options.as), accept: 'text/event-stream', 'last-event-id': String(after) },
    signal: leaving.signal,
  })
  if (response.status >= 400) throw new Refused((await response.json()) as Problem)
  const tape = new Tape(after, task !== undefined || types !== undefined)
  void readStream(response, tape)
  return {
    events: tape.events,
    status: response.status,
    ended: tape.ended,
    until: (isLast) => tape.until(isLast),
    close: () => leaving.abort(),
  }
}

async function readStream(response: Response, tape: Tape): Promise<void> {
  const parser = createParser({
    onEvent: ({ id, event: name, data }) => {
      const event = JSON.parse(data) as Event
      if (id !== String(event.seq)) tape.break(`The frame of ${event.seq} has the id ${id}`)
      if (name !== undefined) tape.break(`The frame of ${event.seq} has the name ${name}`)
      tape.push(event)
    },
    onError: (error) => tape.break(`A frame cannot be read: ${error.message}`),
  })
  try {
    for await (const text of (response.body ?? emptyStream()).pipeThrough(new TextDecoderStream())) parser.feed(text)
    tape.end({ by: 'end' })
  } catch {
    // Cut off: by a dead server, or by whoever watched.
    tape.end({ by: 'close' })
  }
}

function emptyStream(): ReadableStream<Uint8Array<ArrayBuffer>> {
  return new ReadableStream({ start: (controller) => controller.close() })
}
