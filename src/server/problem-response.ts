import type { Problem } from '../protocol/problem.ts'
import { retryAfterSeconds, toProblem } from '../protocol/problem.ts'
import type { Logger } from '../runtime/logger.ts'
import type { AppContext } from './app-env.ts'
import { textAnswer } from './text-answer.ts'
import { isBodyUnread } from './unread-body.ts'

/** Answers with what is wrong. A defect is logged in full under the id that the caller is told. */
export function problemResponse(c: AppContext, error: unknown, log: Logger): Response {
  const problem = toProblem(error, c.get('requestId'))
  if (problem.status === 500) log.error({ requestId: problem.requestId, err: error }, 'a request failed by a defect')
  if (!isBodyUnread(c.env?.incoming)) return bareProblem(problem, c.get('headers'))
  const headers = { ...headersOf(problem, c.get('headers')), connection: 'close' }
  return textAnswer(c, problem.status, headers, JSON.stringify(problem))
}

/** A problem as an answer, for places where there is no context. */
export function bareProblem(problem: Problem, headers: Readonly<Record<string, string>>): Response {
  return new Response(JSON.stringify(problem), { status: problem.status, headers: headersOf(problem, headers) })
}

function headersOf(problem: Problem, common: Readonly<Record<string, string>>): Record<string, string> {
  return { ...common, 'content-type': 'application/problem+json', ...ownHeaders(problem) }
}

function ownHeaders(problem: Problem): Record<string, string> {
  const seconds = retryAfterSeconds(problem)
  if (seconds !== undefined) return { 'retry-after': String(seconds) }
  if (problem.code === 'unauthenticated') return { 'www-authenticate': 'Bearer realm="holdfast"' }
  if (problem.code === 'method_not_allowed') return { allow: String(problem['allow']) }
  return {}
}
