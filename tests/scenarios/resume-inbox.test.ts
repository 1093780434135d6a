import { describe, it } from 'vitest'
import type { InboxItem } from '../../src/core/inbox-item.ts'
import type { AgentContext } from '../../src/index.ts'
import type { Runtime } from '../../src/runtime/runtime.ts'
import { crashEverywhere, crashEverywhereTwice, crashTestMs, type Story } from './crash-everywhere.ts'
import { eventsUntil, logOf, onEachStore } from './world.ts'

/** Sends a message unless the log shows that it got through: a client that got no answer looks before it asks again. */
async function sendOnce(runtime: Runtime, task: string, content: string): Promise<void> {
  const log = await logOf(runtime, 't')
  const isThere = log.some((event) => event.type === 'inbox.accepted' && event.data.content === content)
  if (!isThere) await runtime.send(task, { content, from: 'tester' })
}

function contentOf(item: InboxItem | undefined): unknown {
  return item?.kind === 'custom' ? (item.payload as { content: unknown }).content : 'nothing'
}

const reader: Story = {
  agents: (executions) => ({
    reader: async (ctx: AgentContext) => {
      const read: unknown[] = []
      await ctx.say('reading ')
      read.push(contentOf(await ctx.receive()))
      const second = await ctx.step('inside', async () => {
        executions.note(ctx, 'inside')
        const content = contentOf(await ctx.receive({ timeoutMs: 1000 }))
        await ctx.emit('received', { content })
        return content
      })
      read.push(second)
      read.push(contentOf(await ctx.receive({ timeoutMs: 20 })))
      await ctx.emit('waited')
      await ctx.step('note', () => executions.note(ctx, 'note'))
      read.push(contentOf(await ctx.receive({ timeoutMs: 500, only: 'messages' })))
      return read
    },
  }),
  clients: async (runtime) => {
    const { id } = await runtime.run({ thread: 't', agent: 'reader', prompt: 'go', idempotencyKey: 'go' })
    await sendOnce(runtime, id, 'one')
    await sendOnce(runtime, id, 'two')
    await eventsUntil(runtime, { thread: 't' }, (event) => event.type === 'custom' && event.data.name === 'waited')
    await sendOnce(runtime, id, 'three')
    await runtime.wait(id)
  },
}

/** Prompts that steer the active run are read by it as messages, and enter the conversation when they are. */
const steered: Story = {
  agents: (executions) => ({
    steered: async (ctx: AgentContext) => {
      await ctx.say('listening ')
      const first = contentOf(await ctx.receive())
      executions.noteSame(ctx, 'messages', await ctx.messages())
      await ctx.say(`heard ${String(first)} `)
      await ctx.sleep(10)
      const second = contentOf(await ctx.receive())
      executions.noteSame(ctx, 'messages', await ctx.messages())
      return [first, second]
    },
  }),
  clients: async (runtime) => {
    const { id } = await runtime.run({ thread: 't', agent: 'steered', prompt: 'go', idempotencyKey: 'go' })
    for (const prompt of ['left', 'right']) {
      await runtime.run({ thread: 't', agent: 'steered', prompt, onBusy: 'steer', idempotencyKey: prompt })
    }
    await runtime.wait(id)
  },
}

onEachStore(['memory', 'sqlite'], (kind) => {
  describe('wherever its process dies', () => {
    it.each([
      ['messages are read once, in order, and a deadline stays where it was', reader],
      ['steering is read once and enters the conversation once', steered],
    ])('REST-15 %s', (_title, story) => crashEverywhere(kind, story), crashTestMs)

    it(
      'REST-15 messages are read once, when the next process dies as well',
      () => crashEverywhereTwice(kind, reader),
      crashTestMs,
    )
  })
})
