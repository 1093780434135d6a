import { isHoldfastError } from '../../core/errors.ts'
import { checkName } from '../../core/name.ts'
import type { QuestionOptions } from '../agent.ts'
import { isLoopbackUrl } from './effect.ts'

/** One thing that a script does, as it stands in the input. */
export type Op =
  | { readonly say: string }
  | { readonly think: string }
  | { readonly progress: number }
  | {
      readonly emit: string
      readonly payload?: unknown
      readonly times?: number
      readonly everyMs?: number
    }
  | { readonly tool: string; readonly input?: unknown; readonly output?: unknown; readonly ms?: number }
  | { readonly step: string; readonly sleepMs?: number; readonly effect?: string; readonly value?: unknown }
  | { readonly sleepMs: number }
  | { readonly spawn: SpawnFields }
  | { readonly receive: { readonly timeoutMs?: number } }
  | { readonly ask: Omit<QuestionOptions, 'key'> }
  | { readonly answer: unknown }
  | { readonly fail: string }
  | { readonly return: unknown }
  | { readonly hang: true | 'hard' }
  | { readonly blockMs: number }

export interface SpawnFields {
  readonly script: Program
  readonly name?: string
  readonly detached?: boolean
  readonly wait?: boolean
}

export type Program = readonly Op[]

/** What a script may do beside talking to its thread. */
export interface ScriptRules {
  /** POST to servers on this machine, and block the event loop of the node. */
  readonly allowEffects: boolean
}

/** The program in an input, or what is wrong with it, each with its place. Nothing unknown is passed over. */
export function readProgram(input: unknown, rules: ScriptRules): { program: Program } | { problems: string[] } {
  const problems = fieldProblems('input', input, { script: program }, {}, rules)
  return problems.length > 0 ? { problems } : { program: (input as { script: Program }).script }
}

/** Says what is wrong with a value at a place, if anything. */
type Check = (value: unknown, at: string, rules: ScriptRules) => string[]
type Fields = Readonly<Record<string, Check>>

// The longest that a timer of the platform waits in one go.
const durationMsMax = 2 ** 31 - 1
// A tool's name is the key of its step, and a key is no longer than this.
const wordLengthMax = 200

const anything: Check = () => []
const text = check('a text', (value) => typeof value === 'string')
const flag = check('true or false', (value) => typeof value === 'boolean')
const word = check(
  `a text of 1-${wordLengthMax} characters`,
  (value) => typeof value === 'string' && value.length > 0 && value.length <= wordLengthMax,
)
const fraction = check('a number from 0 to 1', (value) => typeof value === 'number' && value >= 0 && value <= 1)
const count = check('a whole number from 1 on', (value) => Number.isSafeInteger(value) && (value as number) > 0)
const duration = check(
  `a whole number of milliseconds from 0 to ${durationMsMax}`,
  (value) => Number.isInteger(value) && (value as number) >= 0 && (value as number) <= durationMsMax,
)
const question = check('a text that says something', (value) => typeof value === 'string' && value !== '')
const optionList = check(
  'a list of one text or more',
  (value) => Array.isArray(value) && value.length > 0 && value.every((option) => typeof option === 'string'),
)
const hanging = check('true or "hard"', (value) => value === true || value === 'hard')

const program: Check = (value, at, rules) => {
  if (!Array.isArray(value)) return [`${at} must be a list of ops`]
  return (value as unknown[]).flatMap((op, index) => opProblems(op, `${at}[${index}]`, rules))
}

const spawning: Check = (value, at, rules) =>
  fieldProblems(at, value, { script: program }, { name: taskName, detached: flag, wait: flag }, rules)

const receiving: Check = (value, at, rules) => fieldProblems(at, value, {}, { timeoutMs: duration }, rules)

const asking: Check = (value, at, rules) => {
  const optional = { options: optionList, timeoutMs: duration, default: anything }
  const problems = fieldProblems(at, value, { text: question }, optional, rules)
  if (problems.length > 0) return problems
  const { options, default: fallback } = value as QuestionOptions
  if (!options || fallback === undefined || options.includes(fallback as string)) return []
  return [`${at}.default must be one of the options`]
}

const effect: Check = (value, at, rules) => {
  if (!rules.allowEffects) return [`${at} is not allowed here`]
  return typeof value === 'string' && isLoopbackUrl(value) ? [] : [`${at} must be an http URL on loopback`]
}

const blocking: Check = (value, at, rules) =>
  rules.allowEffects ? duration(value, at, rules) : [`${at} is not allowed here`]

const taskName: Check = (value, at) => {
  try {
    checkName(value as string)
    return []
  } catch (error) {
    if (isHoldfastError(error)) return [`${at}: ${error.message}`]
    throw error
  }
}

/** What each op needs under its own name, and the fields it may have. `step` comes before `sleepMs`, which is one of its own. */
const ops: readonly { readonly name: string; readonly value: Check; readonly fields?: Fields }[] = [
  { name: 'say', value: text },
  { name: 'think', value: text },
  { name: 'progress', value: fraction },
  { name: 'emit', value: word, fields: { payload: anything, times: count, everyMs: duration } },
  { name: 'tool', value: word, fields: { input: anything, output: anything, ms: duration } },
  { name: 'step', value: word, fields: { sleepMs: duration, effect, value: anything } },
  { name: 'sleepMs', value: duration },
  { name: 'spawn', value: spawning },
  { name: 'receive', value: receiving },
  { name: 'ask', value: asking },
  { name: 'answer', value: anything },
  { name: 'fail', value: text },
  { name: 'return', value: anything },
  { name: 'hang', value: hanging },
  { name: 'blockMs', value: blocking },
]

function opProblems(op: unknown, at: string, rules: ScriptRules): string[] {
  if (!isObject(op)) return [`${at} must be an object`]
  const shape = ops.find(({ name }) => Object.hasOwn(op, name))
  if (!shape) return [`${at} is no op that is known here: ${named(Object.keys(op)) || 'it is empty'}`]
  const problems = fieldProblems(at, op, { [shape.name]: shape.value }, shape.fields ?? {}, rules)
  const isCounted = shape.name === 'emit' && op['times'] !== undefined
  if (!isCounted || op['payload'] === undefined || isObject(op['payload'])) return problems
  return [...problems, `${at}.payload must be an object, because it gains n`]
}

function fieldProblems(at: string, value: unknown, needed: Fields, optional: Fields, rules: ScriptRules): string[] {
  if (!isObject(value)) return [`${at} must be an object with ${named(Object.keys(needed)) || 'known fields'}`]
  const known = { ...needed, ...optional }
  const missing = Object.keys(needed).filter((field) => !Object.hasOwn(value, field))
  const unknown = Object.keys(value).filter((field) => !Object.hasOwn(known, field))
  return [
    ...missing.map((field) => `${at} needs ${named([field])}`),
    ...unknown.map((field) => `${at} has the unknown field ${named([field])}`),
    ...Object.entries(known).flatMap(([field, problemsOf]) =>
      Object.hasOwn(value, field) ? problemsOf(value[field], `${at}.${field}`, rules) : [],
    ),
  ]
}

function check(expected: string, isRight: (value: unknown) => boolean): Check {
  return (value, at) => (isRight(value) ? [] : [`${at} must be ${expected}`])
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function named(fields: readonly string[]): string {
  return fields.map((field) => JSON.stringify(field)).join(', ')
}
