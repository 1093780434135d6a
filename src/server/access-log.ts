import type { Logger } from '../runtime/logger.ts'
import type { AppContext } from './app-env.ts'

// Enough to recognise a path or an origin by; a hostile one is as long as headers may be.
const shownLengthMax = 500

/** One line per request. Reads that went well are what a server does all day, and are not worth a line unless asked for. */
export function logAccess(log: Logger, c: AppContext, status: number, durationMs: number): void {
  const { method, path } = c.req
  const facts = {
    requestId: c.get('requestId'),
    method,
    // Without the query: it is the caller's, and nothing in it is needed to find the request.
    path: path.slice(0, shownLengthMax),
    status,
    durationMs,
    principal: c.get('principal'),
    ...refusedSource(status, c.req.raw.headers),
  }
  const isRead = method === 'GET' || method === 'HEAD'
  if (isRead && status < 300) log.debug(facts, 'request')
  else log.info(facts, 'request')
}

/** What an operator would have to add, if it is one of theirs: Host and Origin are all that a request is forbidden for (403). */
export function refusedSource(status: number, headers: Headers): { readonly host?: string; readonly origin?: string } {
  if (status !== 403) return {}
  const [host, origin] = ['host', 'origin'].map((name) => headers.get(name)?.slice(0, shownLengthMax))
  return { ...(host !== undefined && { host }), ...(origin !== undefined && { origin }) }
}
