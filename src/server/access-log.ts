import type { Logger } from '../runtime/logger.ts'
import type { AppContext } from './app-env.ts'

// Enough to recognise a path by; a hostile one is as long as headers may be.
const pathLengthMax = 500

/** One line per request. Reads that went well are what a server does all day, and are not worth a line unless asked for. */
export function logAccess(log: Logger, c: AppContext, status: number, durationMs: number): void {
  const { method, path } = c.req
  const facts = {
    requestId: c.get('requestId'),
    method,
    // Without the query: it is the caller's, and nothing in it is needed to find the request.
    path: path.slice(0, pathLengthMax),
    status,
    durationMs,
    principal: c.get('principal'),
  }
  const isRead = method === 'GET' || method === 'HEAD'
  if (isRead && status < 300) log.debug(facts, 'request')
  else log.info(facts, 'request')
}
