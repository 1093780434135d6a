import { type ErrorCode, type HoldfastError, isHoldfastError } from '../client/index.ts'
import { commandStart } from './command-start.ts'
import { errorMessage } from './error-message.ts'
import { exitCodeOf } from './exit-code.ts'
import { jsonText } from './show/json-text.ts'
import { oneLine } from './show/plain-text.ts'
import { shellWord } from './show/shell-word.ts'
import type { Surroundings } from './surroundings.ts'

/** A task that a command waits for, and its thread. */
export interface LeftWork {
  readonly task: string
  readonly thread: string
}

export interface FailureOptions {
  readonly json: boolean
  readonly quiet: boolean
  /** With what the command ends; as the error says, unless given. */
  readonly exitCode?: number
  /** What the program was started in, and the server that a flag named: what a command to copy begins with. */
  readonly env?: Surroundings['env']
  readonly url?: string | undefined
  /** What goes on without the command. */
  readonly left?: LeftWork
}

interface Starts {
  readonly program: string
  /** Asks the same server. */
  readonly here: string
}

const hints: Readonly<Partial<Record<ErrorCode, string | ((starts: Starts) => string)>>> = {
  unreachable: ({ program }) => `Start one with \`${program} serve\`, or name another with --url or HOLDFAST_URL.`,
  unauthenticated: 'Give the token of the server with --token or HOLDFAST_TOKEN.',
  forbidden_origin: 'The server does not answer to this name; add it to HOLDFAST_HOSTS there, or ask by another --url.',
  not_found: ({ here }) => `List what is there with \`${here} ps -a\` or \`${here} threads\`.`,
  unknown_agent: ({ here }) => `List the agents of the server with \`${here} agents\`.`,
  busy: 'Wait for the live run, or ask with another --on-busy.',
  task_terminated: ({ here }) => `Look at how it ended with \`${here} inspect\`.`,
  limit_reached: 'Ask again later, or raise the limit on the server with HOLDFAST_LIMITS.',
  draining: 'The server is shutting down. Ask again when it is back.',
  store_unavailable: 'The server answers, but its store does not. Its log says why.',
  internal_error: 'The log of the server has this request id, and why.',
}

/** No list has the questions of all tasks. */
const questionHint = ({ here }: Starts): string => `The open questions of a task are in \`${here} inspect TASK\`.`

/** What has a thread's id instead of a task's. */
const threadHint =
  (thread: string) =>
  ({ here }: Starts): string =>
    `List its tasks with \`${here} ps -a --thread ${shellWord(thread)}\`.`

/** What went wrong, for stderr: what and why, what to do, and the id under which the server's log has it. */
export function failureText(error: unknown, options: FailureOptions): string {
  const { json, quiet, exitCode = exitCodeOf(error), left } = options
  const { code, facts } = isHoldfastError(error) ? error : { code: undefined, facts: {} as HoldfastError['facts'] }
  const message = oneLine(errorMessage(error))
  const hint = code === undefined ? undefined : hintOf(code, facts, options)
  const requestId = typeof facts['requestId'] === 'string' ? oneLine(facts['requestId']) : undefined
  if (json) {
    const type = code === undefined ? 'about:blank' : `urn:holdfast:error:${code}`
    const problem = { type, title: message, ...facts, ...left, code, hint, requestId, exitCode }
    return `${jsonText(problem)}\n`
  }
  const lines = [`holdfast: ${message}`]
  if (hint !== undefined && !quiet) lines.push(`  ${hint}`)
  if (requestId !== undefined) lines.push(`  Request id: ${requestId}`)
  return lines.map((line) => `${line}\n`).join('')
}

function hintOf(
  code: ErrorCode,
  { kind, thread }: HoldfastError['facts'],
  { env = {}, url }: FailureOptions,
): string | undefined {
  const hint = kind === 'thread' ? threadHint(String(thread)) : kind === 'question' ? questionHint : hints[code]
  return typeof hint === 'function' ? hint({ program: commandStart(env), here: commandStart(env, url) }) : hint
}
