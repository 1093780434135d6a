import { randomUUID } from 'node:crypto'

const idPattern = /^[A-Za-z0-9._:@~-]{1,128}$/

/** The id under which a request is found in the log: the caller's, if it gave one that can stand in a log line. */
export function requestIdOf(headers: Headers): string {
  const given = headers.get('x-request-id')
  return given !== null && idPattern.test(given) ? given : randomUUID()
}
