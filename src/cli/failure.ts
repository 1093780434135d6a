import { type ErrorCode, type HoldfastError, isHoldfastError } from '../client/index.ts'
import { errorMessage } from './error-message.ts'
import { exitCodeOf } from './exit-code.ts'
import { jsonText } from './show/json-text.ts'
import { oneLine } from './show/plain-text.ts'

export interface FailureOptions {
  readonly json: boolean
  readonly quiet: boolean
  /** With what the command ends; as the error says, unless given. */
  readonly exitCode?: number
}

const hints: Readonly<Partial<Record<ErrorCode, string>>> = {
  unreachable: 'Start one with `holdfast serve`, or name another with --url or HOLDFAST_URL.',
  unauthenticated: 'Give the token of the server with --token or HOLDFAST_TOKEN.',
  forbidden_origin: 'The server does not answer to this name; add it to HOLDFAST_HOSTS there, or ask by another --url.',
  not_found: 'List what is there with `holdfast ps -a` or `holdfast threads`.',
  unknown_agent: 'List the agents of the server with `holdfast agents`.',
  busy: 'Wait for the live run, or ask with another --on-busy.',
  task_terminated: 'Look at how it ended with `holdfast inspect`.',
  limit_reached: 'Ask again later, or raise the limit on the server with HOLDFAST_LIMITS.',
  draining: 'The server is shutting down. Ask again when it is back.',
  store_unavailable: 'The server answers, but its store does not. Its log says why.',
  internal_error: 'The log of the server has this request id, and why.',
}

/** What went wrong, for stderr: what and why, what to do, and the id under which the server's log has it. */
export function failureText(error: unknown, { json, quiet, exitCode = exitCodeOf(error) }: FailureOptions): string {
  const { code, facts } = isHoldfastError(error) ? error : { code: undefined, facts: {} as HoldfastError['facts'] }
  const message = oneLine(errorMessage(error))
  const hint = code === undefined ? undefined : hints[code]
  const requestId = typeof facts['requestId'] === 'string' ? oneLine(facts['requestId']) : undefined
  if (json) {
    const type = code === undefined ? 'about:blank' : `urn:holdfast:error:${code}`
    const problem = { type, title: message, ...facts, code, hint, requestId, exitCode }
    return `${jsonText(problem)}\n`
  }
  const lines = [`holdfast: ${message}`]
  if (hint !== undefined && !quiet) lines.push(`  ${hint}`)
  if (requestId !== undefined) lines.push(`  Request id: ${requestId}`)
  return lines.map((line) => `${line}\n`).join('')
}
