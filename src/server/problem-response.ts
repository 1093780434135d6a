import type { Problem } from '../protocol/problem.ts'
import { retryAfterSeconds, toProblem } from '../protocol/problem.ts'
import type { Logger } from '../runtime/logger.ts'
import type { AppContext } from './app-env.ts'

/** Answers with what is wrong. A defect is logged in full under the id that the caller is told. */
export function problemResponse(c: AppContext, error: unknown, log: Logger): Response {
  const problem = toProblem(error, c.get('requestId'))
  if (problem.status === 500) log.error({ requestId: problem.requestId, err: error }, 'a request failed by a defect')
  return bareProblem(problem, { ...c.get('headers'), ...(isBodyUnread(c) && { connection: 'close' }) })
}

/** A problem as an answer, for places where there is no context. */
export function bareProblem(problem: Problem, headers: Readonly<Record<string, string>>): Response {
  return new Response(JSON.stringify(problem), {
    status: problem.status,
    headers: { ...headers, 'content-type': 'application/problem+json', ...ownHeaders(problem) },
  })
}

function ownHeaders(problem: Problem): Record<string, string> {
  const seconds = retryAfterSeconds(problem)
  if (seconds !== undefined) return { 'retry-after': String(seconds) }
  if (problem.code === 'unauthenticated') return { 'www-authenticate': 'Bearer realm="holdfast"' }
  if (problem.code === 'method_not_allowed') return { allow: String(problem['allow']) }
  return {}
}

/** What is left of a body that was refused would be read as the next request. */
function isBodyUnread(c: AppContext): boolean {
  const incoming = c.env?.incoming
  return incoming !== undefined && incoming.httpVersionMajor === 1 && !incoming.complete
}
