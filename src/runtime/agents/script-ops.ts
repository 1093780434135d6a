import { assertNever, isHoldfastError } from '../../core/errors.ts'
import type { AgentContext, QuestionOptions } from '../agent.ts'
import { unlessStopped } from '../stop.ts'
import { postEffect } from './effect.ts'
import type { Op, SpawnFields } from './script-program.ts'

/** An op that goes on to the next one; `fail` and `return` do not. */
export type Action = Exclude<Op, { readonly fail: string } | { readonly return: unknown }>

/** Does one op. What it answers with is the value of its step. */
export async function perform(ctx: AgentContext, op: Action): Promise<unknown> {
  if ('say' in op) return ctx.say(op.say)
  if ('think' in op) return ctx.think(op.think)
  if ('progress' in op) return ctx.progress(op.progress)
  if ('emit' in op) return emit(ctx, op)
  if ('tool' in op) return callTool(ctx, op)
  if ('step' in op) return executeStep(ctx, op)
  if ('sleepMs' in op) return ctx.sleep(op.sleepMs)
  if ('spawn' in op) return spawn(ctx, op.spawn)
  if ('receive' in op) return receive(ctx, op.receive)
  if ('ask' in op) return ask(ctx, op.ask)
  if ('answer' in op) return ctx.answer(op.answer)
  if ('hang' in op) return hang(ctx, op.hang)
  if ('blockMs' in op) return block(op.blockMs)
  return assertNever(op)
}

async function emit(ctx: AgentContext, op: Extract<Op, { emit: string }>): Promise<void> {
  const { times, everyMs, payload } = op
  if (times === undefined) return ctx.emit(op.emit, payload)
  for (let n = 0; n < times; n++) {
    if (n > 0 && everyMs !== undefined) await ctx.sleep(everyMs)
    ctx.signal.throwIfAborted()
    await ctx.emit(op.emit, { ...(payload as object | undefined), n })
  }
}

async function callTool(ctx: AgentContext, op: Extract<Op, { tool: string }>): Promise<void> {
  const { ms, output, input = {} } = op
  await ctx.tool(op.tool, input, async () => {
    if (ms !== undefined) await ctx.sleep(ms)
    return output
  })
}

async function executeStep(ctx: AgentContext, op: Extract<Op, { step: string }>): Promise<unknown> {
  const { step: key, sleepMs, effect, value } = op
  if (effect !== undefined) await postEffect(ctx, effect, key)
  if (sleepMs !== undefined) await ctx.sleep(sleepMs)
  await ctx.emit('step_executed', { key })
  return value
}

async function spawn(ctx: AgentContext, fields: SpawnFields): Promise<void> {
  const { script, name, detached, wait } = fields
  const child = await ctx.spawn({
    agent: ctx.agent ?? 'script',
    input: { script },
    ...(name !== undefined && { name }),
    ...(detached && { detached }),
  })
  if (!wait) return
  const { task, status, answer, error } = await ctx.wait(child.id)
  const ended = { task, status, ...(error && { error }) }
  if (answer === undefined) return ctx.emit('child_ended', ended)
  try {
    await ctx.emit('child_ended', { ...ended, result: answer })
  } catch (refused) {
    // A result may be larger than an event. It is read from the task then, and the parent goes on.
    if (!isHoldfastError(refused, 'too_large')) throw refused
    await ctx.emit('child_ended', { ...ended, resultOmitted: true })
  }
}

async function receive(ctx: AgentContext, { timeoutMs }: { readonly timeoutMs?: number }): Promise<void> {
  const item = await ctx.receive({ only: 'messages', ...(timeoutMs !== undefined && { timeoutMs }) })
  if (item?.kind !== 'custom') return ctx.emit('receive_timeout')
  return ctx.emit('received', item.payload)
}

async function ask(ctx: AgentContext, question: QuestionOptions): Promise<void> {
  const { answer, by } = await ctx.ask(question)
  await ctx.emit('answered', { answer, by })
}

function hang(ctx: AgentContext, how: true | 'hard'): Promise<never> {
  const never = new Promise<never>(() => {})
  return how === 'hard' ? never : unlessStopped(ctx.signal, never)
}

function block(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms)
}
