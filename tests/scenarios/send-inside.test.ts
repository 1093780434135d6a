import { describe, expect, it } from 'vitest'
import type { AgentContext } from '../../src/index.ts'
import { untilStopped } from './bodies.ts'
import { crashEverywhere, crashTestMs, type Story } from './crash-everywhere.ts'
import { eventsOf, onEachStore } from './world.ts'

const thread = 't'

/** Two that write to each other: each message is sent and read once, wherever the process dies. */
const letters: Story = {
  agents: (executions) => ({
    lead: async (ctx: AgentContext) => {
      const helper = await ctx.spawn({ agent: 'helper', name: 'helper', input: ctx.taskId })
      const sent = []
      for (const content of ['one', 'one', 'two']) sent.push((await ctx.send(helper.id, { content })).isSent)
      const answer = await ctx.receive({ only: 'messages' })
      executions.noteSame(ctx, 'answer', answer)
      const ended = await ctx.wait(helper.id)
      const late = await ctx.send(helper.id, { content: 'late' })
      return { sent, answer: answer?.kind === 'custom' && answer.payload, ended: ended.answer, late }
    },
    helper: async (ctx: AgentContext, lead: string) => {
      const read = []
      for (let n = 0; n < 3; n += 1) {
        const item = await ctx.receive()
        read.push(item?.kind === 'custom' && (item.payload as { content: unknown }).content)
      }
      await ctx.send(lead, { content: read.join(' '), from: 'helper' })
      return read
    },
  }),
  clients: async (runtime) => {
    const { id } = await runtime.run({ thread, agent: 'lead', prompt: 'go', idempotencyKey: 'go' })
    expect((await runtime.wait(id))?.result).toEqual({
      sent: [true, true, true],
      answer: { from: 'helper', content: 'one one two' },
      ended: ['one', 'one', 'two'],
      late: { isSent: false, reason: 'task_terminated', taskStatus: 'completed' },
    })
    const [helper] = (await runtime.list({ thread, name: 'helper' })).tasks
    const accepted = (await eventsOf(runtime, thread, helper?.id ?? '')).filter(({ type }) => type === 'inbox.accepted')
    expect(accepted).toHaveLength(3)
  },
}

onEachStore(['memory', 'sqlite'], (kind, world) => {
  describe('wherever its process dies', () => {
    it(
      'REST-15 what a task sends is sent once, and a refusal stays what it was',
      () => crashEverywhere(kind, letters),
      crashTestMs,
    )
  })

  it('a task writes to tasks of its own thread alone, and is told why not', async () => {
    const runtime = await world().open()
    const [elsewhere, foreign, deaf] = [
      await runtime.spawn({ thread: 'other', run: untilStopped }),
      await runtime.as('alice').spawn({ thread, run: untilStopped }),
      await runtime.spawn({ thread, run: untilStopped, type: 'shell' }),
    ]
    const leaving = await runtime.spawn({
      thread,
      run: (ctx) => untilStopped(ctx).finally(() => new Promise(() => {})),
    })
    await runtime.cancel(leaving.id)
    const addresses = [elsewhere.id, foreign.id, deaf.id, leaving.id, 'bg_99', '']
    const task = await runtime.spawn({
      thread,
      run: (ctx) => Promise.all(addresses.map((id) => ctx.send(id, { content: 1 }))),
    })
    expect((await runtime.wait(task.id))?.result).toEqual([
      { isSent: false, reason: 'not_owner' },
      { isSent: false, reason: 'not_found' },
      { isSent: false, reason: 'no_inbox' },
      { isSent: false, reason: 'task_terminated', taskStatus: 'cancelled' },
      { isSent: false, reason: 'not_found' },
      { isSent: false, reason: 'not_found' },
    ])
  })

  it('what is no message is refused to the task that sends it', async () => {
    const runtime = await world().open({ limits: { eventBytes: 1000 } })
    const reader = await runtime.spawn({ thread, run: untilStopped })
    const wrong = [{ content: 'x'.repeat(2000) }, { content: () => 1 }, { content: 1, from: 7 as unknown as string }]
    const task = await runtime.spawn({
      thread,
      run: async (ctx) => {
        const codes = []
        for (const message of wrong) {
          codes.push(await ctx.send(reader.id, message).catch((error: { code?: string }) => error.code))
        }
        return codes
      },
    })
    expect((await runtime.wait(task.id))?.result).toEqual(['too_large', 'not_serialisable', 'invalid_request'])
  })
})
