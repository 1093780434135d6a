import { failed } from '../../core/outcome.ts'
import type { Result } from '../../core/result.ts'
import type { Agent, AgentContext } from '../agent.ts'
import type { SchemaIssue } from '../standard-schema.ts'
import { askedText } from './asked-text.ts'
import { refusingSchema } from './refusing-schema.ts'
import { perform } from './script-ops.ts'
import { type Op, type Program, readProgram, type ScriptRules } from './script-program.ts'
import { scriptSchema } from './script-schema.ts'

/** What a script may do. */
export interface ScriptOptions {
  /**
   * Lets scripts POST to servers on this machine (`effect`) and block the event loop (`blockMs`). False unless given:
   * whoever may start a script could reach what listens on loopback.
   */
  readonly allowEffects?: boolean
}

// More would be read by nobody.
const problemsShownMax = 10

/**
 * An agent whose program is its input: `{script: [op, …]}`, for demos, front-end work, load and fault tests.
 *
 * Each op is a step, found by its place in the program, which never changes. What it waits for, spawns or reads is a
 * step of its own inside, so an op that is done again after a crash does none of that twice.
 */
export function scriptAgent(options: ScriptOptions = {}): Agent {
  const rules = { allowEffects: options.allowEffects ?? false }
  return {
    run: (ctx: AgentContext, input: unknown) => run(ctx, input, rules),
    description: 'Runs the program in its input',
    input: refusingSchema((input) => issuesOf(input, rules)),
    inputSchema: scriptSchema(rules),
    // A program that a model writes could reach what listens on this machine.
    isSpawnable: false,
  }
}

function issuesOf(input: unknown, rules: ScriptRules): readonly SchemaIssue[] {
  const read = readProgram(input, rules)
  return 'problems' in read ? read.problems.map((message) => ({ message })) : []
}

async function run(ctx: AgentContext, input: unknown, rules: ScriptRules): Promise<unknown> {
  if (ctx.asked === 'wake') return wake(ctx, input as readonly Result[])
  const prompt = askedText(ctx, input)
  if (prompt !== undefined) return execute(ctx, saying(prompt))
  const read = readProgram(input, rules)
  return 'problems' in read ? failed(refusal(read.problems)) : execute(ctx, read.program)
}

// Of an event, which has room for eight bytes of each; a control character takes six.
const sayLengthMax = 32_768

/** A prompt may be longer than an event. */
function saying(prompt: string): Program {
  const says: Op[] = []
  let from = 0
  do {
    const end = from + sayLengthMax
    // The two halves of a character stay together.
    const to = /[\ud800-\udbff]/.test(prompt.charAt(end - 1)) ? end - 1 : end
    says.push({ say: prompt.slice(from, to) })
    from = to
  } while (from < prompt.length)
  return says
}

async function wake(ctx: AgentContext, results: readonly Result[]): Promise<unknown> {
  await ctx.step('woken', () => ctx.emit('woken', { tasks: results.map(({ task }) => task) }))
  return outcome([])
}

async function execute(ctx: AgentContext, program: Program): Promise<unknown> {
  for (const [index, op] of program.entries()) {
    if ('fail' in op) return failed(op.fail)
    if ('return' in op) return op.return
    await ctx.step(`op-${index}`, () => perform(ctx, op))
  }
  return outcome(program)
}

/** The result of a program that ran off its end: all of it was done, so the program itself tells. */
function outcome(program: Program): unknown {
  const answer = program.findLast((op) => 'answer' in op)
  if (answer) return answer.answer
  return { said: program.map((op) => ('say' in op ? op.say : '')).join('') }
}

function refusal(problems: readonly string[]): string {
  const shown = problems.slice(0, problemsShownMax)
  const rest = problems.length - shown.length
  return `The script is refused, nothing of it was executed: ${shown.join('; ')}${rest > 0 ? `; and ${rest} more` : ''}`
}
