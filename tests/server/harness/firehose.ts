import { createParser } from 'eventsource-parser'
import type { Event } from '../../../src/core/event.ts'
import type { TestServer } from './server.ts'

/** Follows all threads of a principal until an event satisfies this, and gives all that came. Opened when `opened` resolves. */
export function followAll(
  server: TestServer,
  as: string,
  isLast: (event: Event) => boolean,
): { readonly opened: Promise<void>; readonly events: Promise<readonly Event[]> } {
  const leaving = new AbortController()
  const opening = fetch(`${server.url}/v1/events`, {
    headers: { ...server.authorization(as), accept: 'text/event-stream' },
    signal: leaving.signal,
  })
  return { opened: opening.then(() => {}), events: opening.then((response) => gather(response, leaving, isLast)) }
}

async function gather(
  response: Response,
  leaving: AbortController,
  isLast: (event: Event) => boolean,
): Promise<readonly Event[]> {
  const events: Event[] = []
  const parser = createParser({
    onEvent: ({ id, data }) => {
      if (id !== undefined) throw new Error(`An event of all threads has the id ${id}`)
      events.push(JSON.parse(data) as Event)
    },
  })
  for await (const text of (response.body ?? new ReadableStream()).pipeThrough(new TextDecoderStream())) {
    parser.feed(text)
    const last = events.findIndex(isLast)
    if (last < 0) continue
    leaving.abort()
    return events.slice(0, last + 1)
  }
  throw new Error(`The stream ended after ${events.length} events`)
}
