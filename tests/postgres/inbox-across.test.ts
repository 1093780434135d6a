import { describe, expect, it } from 'vitest'
import type { AgentContext, Runtime } from '../../src/index.ts'
import { createInbox } from '../../src/index.ts'
import { gate } from '../scenarios/world.ts'
import { severalNodes } from './several-nodes.ts'

const nodes = severalNodes()
const thread = 't'

/** A node that has the agent, and one that has only seen the thread before. */
async function openTwo(agents: Record<string, (ctx: AgentContext) => Promise<unknown>>, isDeaf: boolean) {
  const one = await nodes.open({ agents: { ...agents, echo: async () => 'done' }, isDeaf })
  const two = await nodes.open({ agents: { echo: async () => 'done' }, isDeaf })
  const { id } = await two.run({ thread, agent: 'echo', prompt: 'first' })
  await two.wait(id)
  return { one, two }
}

async function questionOf(runtime: Runtime): Promise<string> {
  await expect.poll(async () => (await runtime.questions()).length).toBe(1)
  return (await runtime.questions())[0]?.id ?? ''
}

describe.each([
  { isDeaf: false, how: 'by notices' },
  { isDeaf: true, how: 'with every notice lost' },
])('what is asked of another node reaches a task that waits, $how', ({ isDeaf }) => {
  it('INBX-20 a message wakes a task that waits for one, each once and in order', async () => {
    const waiting = gate()
    const reader = async (ctx: AgentContext) => {
      waiting.open()
      const items = [await ctx.receive(), await ctx.receive(), await ctx.receive()]
      return items.map((item) => (item?.kind === 'custom' ? item.payload : undefined))
    }
    const { one, two } = await openTwo({ reader }, isDeaf)
    const { id } = await one.run({ thread, agent: 'reader', prompt: 'go' })
    await waiting.opened
    for (const content of ['a', 'b', 'c']) expect(await two.send(id, { content })).toMatchObject({ isSent: true })
    expect(await two.wait(id)).toMatchObject({
      status: 'completed',
      result: ['a', 'b', 'c'].map((content) => ({ content })),
    })
  })

  it('an answer ends the wait of a task that asked', async () => {
    const asker = async (ctx: AgentContext) => (await ctx.ask({ text: 'Well?' })).answer
    const { one, two } = await openTwo({ asker }, isDeaf)
    const { id } = await one.run({ thread, agent: 'asker', prompt: 'go' })
    await two.answer(await questionOf(two), 'yes')
    expect(await two.wait(id)).toMatchObject({ status: 'completed', result: 'yes' })
    await expect(one.answer((await one.questions())[0]?.id ?? 'q_none', 'no')).rejects.toMatchObject({
      code: 'not_found',
    })
  })

  it('the end of a child that another node executed reaches its parent once', async () => {
    const taken = gate()
    const parent = async (ctx: AgentContext) => {
      const { id } = await ctx.spawn({ agent: 'child' })
      await taken.opened
      const [end, item] = [await ctx.wait(id), await ctx.receive({ timeoutMs: 1 })]
      return { end, item: item ?? null }
    }
    const goOn = gate()
    const child = async () => {
      taken.open()
      await goOn.opened
      return 42
    }
    const one = await nodes.open({ agents: { parent, child }, concurrency: 1, isDeaf })
    await nodes.open({ agents: { child }, isDeaf })
    const { id } = await one.run({ thread, agent: 'parent', prompt: 'go' })
    await taken.opened
    goOn.open()
    expect(await one.wait(id)).toMatchObject({
      status: 'completed',
      result: { end: { status: 'completed', answer: 42 }, item: null },
    })
  })
})

describe('what a node remembers of a thread', () => {
  it('makes it refuse nothing that another node has made possible', async () => {
    const [begun, goOn] = [gate(), gate()]
    const slow = async () => {
      begun.open()
      await goOn.opened
    }
    const { one, two } = await openTwo({ slow }, true)
    const first = await two.spawn({ thread, agent: 'echo', name: 'n' })
    await two.wait(first.id)
    // One node gives the name away, the other remembers that it was free.
    const holder = await one.spawn({ thread, agent: 'slow', name: 'n' })
    await begun.opened
    await expect(two.spawn({ thread, agent: 'echo', name: 'n' })).rejects.toMatchObject({ code: 'name_taken' })
    goOn.open()
    await one.wait(holder.id)
    const next = await two.spawn({ thread, agent: 'echo', name: 'n' })
    expect(await two.wait(next.id)).toMatchObject({ status: 'completed' })
    expect(await two.run({ thread, agent: 'echo', prompt: 'go', onBusy: 'reject' })).toMatchObject({ thread })
  })

  it('makes it miss no result that was taken or is to be taken elsewhere', async () => {
    const { one, two } = await openTwo({}, true)
    const { id } = await one.spawn({ thread, agent: 'echo' })
    await one.wait(id)
    expect(await two.collect(thread, [id])).toEqual([id])
    expect(await one.collect(thread, [id])).toEqual([])
    expect(await one.results(thread)).toMatchObject({ results: [] })
  })

  it('INBX-03 the owner of a task that another node executed hears of its end', async () => {
    const [busy, goOn] = [gate(), gate()]
    const echo = async () => 'done'
    const one = await nodes.open({ agents: { echo }, concurrency: 1, isDeaf: true })
    await nodes.open({ agents: { echo }, isDeaf: true })
    await one.spawn({
      thread: 'other',
      run: async () => {
        busy.open()
        await goOn.opened
      },
    })
    await busy.opened
    const inbox = createInbox()
    const { id } = await one.spawn({ thread, agent: 'echo', inbox })
    const { value: heard } = await inbox.next()
    expect(heard).toMatchObject({ kind: 'completed', taskId: id, result: 'done' })
    goOn.open()
  })
})
