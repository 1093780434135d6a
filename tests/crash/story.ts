import { type AgentContext, type Agents, isHoldfastError, type Runtime } from '../../src/index.ts'
import { digestOf, type Entry, type Journal } from './journal.ts'
import type { Outside } from './ledger.ts'
import { answered, effectStep } from './load-agents.ts'
import { type Witness, writeEnd, writeSeen } from './witness.ts'

/**
 * A small fixed scenario with a bit of everything: steps, a child that is waited for, a message, a question, a cancel. Whoever
 * tells it is a client that died and came back: each request is sent again until it was answered.
 */
export const storyThread = 'story'

export function storyAgents(outside: Outside): Agents {
  return {
    parent: async (ctx: AgentContext) => {
      await effectStep(ctx, outside, 'first', () => ctx.say('one;'))
      const child = await ctx.spawn({ agent: 'child', name: 'kid' })
      answered(ctx, outside, 'spawn', child.id)
      const end = await ctx.wait(child.id)
      answered(ctx, outside, 'wait kid', end)
      await ctx.say('two;')
      const item = await ctx.receive({ only: 'messages' })
      answered(ctx, outside, 'receive', item ?? null)
      const given = await ctx.ask({ text: 'ask', options: ['yes', 'no'] })
      answered(ctx, outside, 'ask', given)
      await effectStep(ctx, outside, 'last', () => ctx.say('three;'))
      return end.answer
    },
    child: async (ctx: AgentContext) => {
      await effectStep(ctx, outside, 'only')
      return 'grown'
    },
    idler: async (ctx: AgentContext) => {
      await effectStep(ctx, outside, 'begun', () => ctx.say('idle;'))
      await ctx.receive()
    },
  }
}

/** Tells the story from the beginning, or goes on with it: `told` is what was acknowledged before. */
export async function tellStory(runtime: Runtime, journal: Journal, told: readonly Entry[]): Promise<void> {
  const thread = storyThread
  const witness = { runtime, journal }
  const seen = told.reduce((last, entry) => (entry.kind === 'saw' ? Math.max(last, entry.seq) : last), 0)
  const watching = writeSeen(witness, thread, seen)
  const run = await runtime.run({ thread, agent: 'parent', prompt: 'tell', ...keyed('run') })
  journal({ kind: 'accepted', task: run.id, thread, key: 'run' })
  const idler = await runtime.spawn({ thread, agent: 'idler', ...keyed('idler') })
  journal({ kind: 'accepted', task: idler.id, thread, key: 'idler' })
  if (await runtime.cancel(idler.id)) journal({ kind: 'cancelled', tasks: [idler.id] })
  if (!told.some((entry) => entry.kind === 'sent')) await sendOn(witness, run.id)
  await answerIt(witness, thread)
  await Promise.all([writeEnd(witness, run.id), writeEnd(witness, idler.id)])
  await runtime.close()
  await watching
}

async function sendOn({ runtime, journal }: Witness, task: string): Promise<void> {
  const content = 'go on'
  const answer = await runtime.send(task, { content })
  if (answer.isSent) journal({ kind: 'sent', task, id: answer.id, token: digestOf(content) })
}

/** Answers when the question is there. Who died before the answer came asks again, and may be told that it got through. */
async function answerIt({ runtime, journal }: Witness, thread: string): Promise<void> {
  for await (const event of runtime.subscribe({ thread, types: ['question.asked'] })) {
    if (event.type !== 'question.asked') continue
    const { id } = event.data.question
    const answered = await runtime.answer(id, 'yes').catch((error: unknown) => {
      if (isHoldfastError(error, 'already_answered')) return error.facts as { readonly answer: unknown }
      throw error
    })
    return journal({ kind: 'settled', thread, question: id, answer: digestOf(answered.answer) })
  }
}

/** The key is in the metadata as well, where the checks find it. */
function keyed(key: string) {
  return { idempotencyKey: key, metadata: { key } }
}
