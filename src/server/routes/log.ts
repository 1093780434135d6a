import { accepts } from 'hono/accepts'
import { z } from 'zod'
import { parseOffset } from '../../protocol/offset.ts'
import { eventPage } from '../../protocol/schemas/answers.ts'
import { firehoseQuery, logQuery, threadParams } from '../../protocol/schemas/queries.ts'
import { event } from '../../protocol/schemas/shapes.ts'
import type { LogEntry } from '../../runtime/log-entry.ts'
import type { AppContext } from '../app-env.ts'
import { route, type Site } from '../route.ts'
import { liveSse, ndjson, type StreamFormat, sse } from '../streams/encode-batch.ts'
import { type OpenSource, openStream } from '../streams/open-stream.ts'
import { textAnswer } from '../text-answer.ts'

const formats: Readonly<Record<string, StreamFormat>> = {
  'text/event-stream': sse,
  'application/x-ndjson': ndjson,
}
const pageType = 'application/json'

const startHeaders = z.object({
  'Last-Event-ID': z.string().optional().meta({ description: 'The number after which to begin; wins over `after`' }),
})

/** The log of a thread as SSE, NDJSON or pages, and the live events of all threads. */
export function logRoutes(site: Site): void {
  threadLogRoute(site)
  firehoseRoute(site)
}

function threadLogRoute(site: Site): void {
  const { parts } = site
  route(
    site,
    {
      method: 'get',
      path: '/v1/threads/{thread}/events',
      summary: 'Read the log of a thread as a stream or in pages',
      params: threadParams,
      query: logQuery,
      headers: startHeaders,
      answers: [
        { status: 200, description: 'A page of events', schema: eventPage },
        { status: 200, description: 'Frames with `id` and `data`', mediaType: 'text/event-stream' },
        { status: 200, description: 'An event per line', schema: event, mediaType: 'application/x-ndjson' },
        { status: 204, description: 'The task had ended before the start of the stream; an EventSource stops' },
      ],
      problems: ['not_found', 'offset_ahead', 'offset_gone', 'limit_reached'],
    },
    async ({ c, runtime, params: { thread }, query }) => {
      const after = startOf(c) ?? query.after
      const { task, types, limit } = query
      const asked = {
        ...(after !== undefined && { after }),
        ...(task !== undefined && { task }),
        ...(types !== undefined && { types: types.split(',') }),
      }
      const format = formats[wantedType(c)]
      if (format) return openStream(c, parts, format, () => runtime.openLog({ thread, ...asked }))
      return page(c, await runtime.logPage(thread, { ...asked, ...(limit !== undefined && { limit }) }))
    },
  )
}

function firehoseRoute(site: Site): void {
  const { parts } = site
  route(
    site,
    {
      method: 'get',
      path: '/v1/events',
      summary: 'Watch what happens in all threads from now on',
      query: firehoseQuery,
      answers: [{ status: 200, description: 'Frames with `data`', mediaType: 'text/event-stream' }],
      problems: ['limit_reached'],
    },
    ({ c, runtime, query: { types } }) => {
      const open: OpenSource = () => runtime.openFirehose(types === undefined ? {} : { types: types.split(',') })
      return openStream(c, parts, liveSse, open)
    },
  )
}

/** Where a reader that comes back was. It counts over the address, which is still that of its first request. */
function startOf(c: AppContext): number | undefined {
  const lastEventId = c.req.raw.headers.get('last-event-id')
  return lastEventId === null ? undefined : parseOffset(lastEventId)
}

/** A type has to be named to be given: whoever takes anything gets an answer that ends. */
function wantedType(c: AppContext): string {
  return accepts(c, {
    header: 'Accept',
    supports: [pageType, ...Object.keys(formats)],
    default: pageType,
    match: (accepted, { supports, default: otherwise }) => {
      const named = accepted.filter(({ type, q }) => q > 0 && supports.includes(type.toLowerCase()))
      return named.toSorted((a, b) => b.q - a.q)[0]?.type.toLowerCase() ?? otherwise
    },
  })
}

interface Page {
  readonly entries: readonly LogEntry[]
  readonly head: number
  readonly next: number
}

/** The events are sent as they were encoded. */
function page(c: AppContext, { entries, head, next }: Page): Response {
  const events = entries.map(({ text }) => text).join(',')
  const headers = { ...c.get('headers'), 'content-type': pageType }
  return textAnswer(c, 200, headers, `{"events":[${events}],"head":${head},"next":${next}}`)
}
