import { type AgentContext, type Agents, cancelled, failed, isHoldfastError } from '../../src/index.ts'
import { systemClock } from '../../src/runtime/clock.ts'
import { digestOf } from './journal.ts'
import type { Outside } from './ledger.ts'
import { assignmentIn, type Op, programOf, wokenText } from './program.ts'

const stepPauseMs = 2

/** Where tasks spawn what is not of their own thread. */
const sideThread = 'side'

/**
 * The agents of the load. `mixed` performs the program of its assignment; `fragile` does the same and cannot be resumed;
 * `stubborn` never ends by itself and ignores its signal.
 */
export function loadAgents(outside: Outside): Agents {
  const mixed = (ctx: AgentContext, input: unknown) => perform(ctx, input, outside)
  return {
    mixed,
    fragile: { run: mixed, isResumable: false },
    stubborn: async (ctx: AgentContext) => {
      await effectStep(ctx, outside, 'hold')
      await new Promise(() => {})
    },
  }
}

async function perform(ctx: AgentContext, input: unknown, outside: Outside): Promise<unknown> {
  const assignment = assignmentIn(input)
  if (!assignment) {
    await ctx.say(wokenText)
    return 'woken'
  }
  const { ops, ending, returned } = programOf(assignment)
  for (const [index, op] of ops.entries()) {
    await performOp(ctx, outside, op, `${op.op}${index}`)
    await ctx.progress(index / ops.length)
  }
  if (ending === 'failed') throw new Error('as the program says')
  return ending === 'cancelled' ? cancelled() : returned
}

async function performOp(ctx: AgentContext, outside: Outside, op: Op, key: string): Promise<void> {
  switch (op.op) {
    case 'say':
      return ctx.say(op.text)
    case 'mark':
      return ctx.emit('mark', { key, padding: '.'.repeat(op.padding) })
    case 'answer':
      return ctx.answer(op.output)
    case 'usage':
      return ctx.usage({ tokens: op.tokens })
    case 'step':
      return effectStep(ctx, outside, key, () => ctx.say(op.text))
    case 'nest':
      return effectStep(ctx, outside, key, () => effectStep(ctx, outside, 'inner', undefined, `${key}/inner`))
    case 'pair':
      await Promise.all([effectStep(ctx, outside, `${key}a`), effectStep(ctx, outside, `${key}b`)])
      return
    case 'tool':
      return tool(ctx, outside, key)
    case 'messages':
      return answered(ctx, outside, key, digestOf(await ctx.messages()))
    case 'sleep':
      await ctx.sleep(op.ms)
      return answered(ctx, outside, key, null)
    case 'receive':
      return receive(ctx, outside, key, op)
    case 'ask':
      return ask(ctx, outside, key, op)
    case 'spawn':
      return spawn(ctx, outside, key, op)
  }
}

/**
 * A step whose value is the nonce of its effect, told by an event inside it. It takes a while, so that what it emits is
 * committed before its record, and processes die between the two.
 */
export async function effectStep(
  ctx: AgentContext,
  outside: Outside,
  key: string,
  more?: () => Promise<void>,
  path = key,
): Promise<void> {
  const nonce = await ctx.step(key, async () => {
    await more?.()
    await aWhile()
    const made = outside.ledger.perform(ctx.taskId, path, ctx.attempt)
    await ctx.emit('step_executed', { step: path, nonce: made })
    await aWhile()
    return made
  })
  answered(ctx, outside, path, nonce)
}

async function tool(ctx: AgentContext, outside: Outside, key: string): Promise<void> {
  const nonce = await ctx.tool(key, { key }, async () => {
    const made = outside.ledger.perform(ctx.taskId, key, ctx.attempt)
    await ctx.sleep(stepPauseMs)
    return made
  })
  answered(ctx, outside, key, nonce)
}

async function receive(
  ctx: AgentContext,
  outside: Outside,
  key: string,
  { timeoutMs, only }: Extract<Op, { op: 'receive' }>,
): Promise<void> {
  const item = await ctx.receive({ timeoutMs, only })
  answered(ctx, outside, key, item ?? null)
  if (!item) return
  if (item.kind !== 'custom') return ctx.emit('child_ended', { task: item.taskId })
  return ctx.emit('received', { token: digestOf((item.payload as { content: unknown }).content) })
}

async function ask(
  ctx: AgentContext,
  outside: Outside,
  key: string,
  { timeoutMs, hasDefault }: Extract<Op, { op: 'ask' }>,
): Promise<void> {
  const question = { text: key, timeoutMs, ...(hasDefault && { default: 'as you like' }) }
  const given = await ctx.ask(question).catch((error: unknown) => {
    if (isHoldfastError(error, 'unanswered')) return null
    throw error
  })
  answered(ctx, outside, key, given)
}

async function spawn(
  ctx: AgentContext,
  outside: Outside,
  key: string,
  { child: input, where }: Extract<Op, { op: 'spawn' }>,
): Promise<void> {
  const place = where === 'elsewhere' ? { thread: sideThread } : { detached: where === 'detached' }
  // The metadata show whether the step made one child only.
  const metadata = { key: `${ctx.taskId} ${key}` }
  const child = await ctx.spawn({ agent: 'mixed', input, metadata, ...place })
  answered(ctx, outside, key, child.id)
  if (!input.awaited) return
  const end = await ctx.wait(child.id)
  answered(ctx, outside, `wait ${key}`, end)
  await ctx.emit('child_ended', { task: child.id })
}

function aWhile(): Promise<void> {
  return new Promise((resolve) => systemClock.setTimer(stepPauseMs, resolve))
}

/** Writes down what a call through `ctx` was answered with. */
export function answered(ctx: AgentContext, { journal }: Outside, step: string, value: unknown): void {
  journal({ kind: 'answered', task: ctx.taskId, step, value: JSON.stringify(value) })
}

/** Ends its task as failed, in this process only. */
export async function closure(ctx: AgentContext): Promise<unknown> {
  await ctx.say('closure;')
  await ctx.sleep(30)
  return failed('as every closure of the load does')
}
