import { describe, expect, it } from 'vitest'
import type { AgentContext, Runtime } from '../../src/index.ts'
import { gate } from '../scenarios/world.ts'
import { severalNodes, untilStopped } from './several-nodes.ts'

const nodes = severalNodes()
const thread = 't'

const waiting = `SELECT count(*)::int AS count FROM pg_locks WHERE relation = 'holdfast.messages'::regclass AND NOT granted`

/** Has users read from a node, over all its connections that read for them, what is not answered before it is let go. */
async function readSlowly(runtime: Runtime): Promise<() => Promise<void>> {
  const letGo = await nodes.schema.hold('LOCK TABLE holdfast.messages IN ACCESS EXCLUSIVE MODE')
  let isOver = false
  const end = () => {
    isOver = true
  }
  const reads = Array.from({ length: 8 }, () => runtime.messages(thread).then(end, end))
  await expect.poll(async () => (await nodes.schema.query<{ count: number }>(waiting))[0]?.count).toBe(6)
  return async () => {
    expect(isOver).toBe(false)
    await letGo()
    await Promise.all(reads)
  }
}

describe('while users read slowly from a node', () => {
  it('it finds that another has cancelled tasks, one after the other, with every notice lost', async () => {
    const begun = [gate(), gate()]
    const [first, second] = [untilStopped(begun[0]?.open), untilStopped(begun[1]?.open)]
    const one = await nodes.open({ agents: { first: first.run, second: second.run }, isDeaf: true })
    const two = await nodes.open({ isDeaf: true })
    const { id } = await one.run({ thread, agent: 'first', prompt: 'go' })
    const later = await one.run({ thread: 'other', agent: 'second', prompt: 'go' })
    await Promise.all(begun.map(({ opened }) => opened))
    const letGo = await readSlowly(one)
    await two.cancel(id)
    expect(await first.stopped).toBe('cancel')
    await two.cancel(later.id)
    expect(await second.stopped).toBe('cancel')
    await letGo()
  })

  it('it finds that a task has ended on another, with every notice lost', async () => {
    const [childBegun, childMayEnd, waits, ended] = [gate(), gate(), gate(), gate()]
    const child = async () => {
      childBegun.open()
      await childMayEnd.opened
    }
    const parent = async (ctx: AgentContext) => {
      const { id } = await ctx.spawn({ agent: 'child' })
      // Until then it keeps the one slot of its node.
      await childBegun.opened
      waits.open()
      await ctx.wait(id)
      ended.open()
    }
    const one = await nodes.open({ agents: { parent, child }, concurrency: 1, isDeaf: true })
    await nodes.open({ agents: { child }, isDeaf: true })
    await one.run({ thread, agent: 'parent', prompt: 'go' })
    await waits.opened
    const letGo = await readSlowly(one)
    childMayEnd.open()
    await ended.opened
    await letGo()
  })

  it('it closes questions whose time is over', async () => {
    const asker = async (ctx: AgentContext) => {
      await ctx.ask({ text: 'Well?', timeoutMs: 600_000, default: 'none' })
    }
    const one = await nodes.open({ agents: { asker } })
    const two = await nodes.open({ isDeaf: true })
    await one.run({ thread, agent: 'asker', prompt: 'go' })
    await expect.poll(() => two.questions()).toHaveLength(1)
    const letGo = await readSlowly(two)
    await one.close({ drainMs: 0 })
    const open = () => nodes.schema.query('SELECT id FROM holdfast.questions WHERE open')
    expect(await open()).toHaveLength(1)
    await nodes.schema.query('UPDATE holdfast.questions SET expires_at = 0')
    await expect.poll(open).toEqual([])
    await letGo()
  })

  it('it takes over what another hands over, with what that recorded', async () => {
    const [begun, resumed] = [gate(), gate<string>()]
    const helper = async (ctx: AgentContext) => {
      const value = await ctx.step('once', () => `in attempt ${ctx.attempt}`)
      if (ctx.attempt > 1) return resumed.open(value)
      begun.open()
      await new Promise(() => {})
    }
    const one = await nodes.open({ agents: { helper } })
    await one.run({ thread, agent: 'helper', prompt: 'go' })
    await begun.opened
    const two = await nodes.open({ agents: { helper } })
    const letGo = await readSlowly(two)
    await one.close({ drainMs: 0 })
    expect(await resumed.opened).toBe('in attempt 1')
    await letGo()
  })

  it('it takes cancels, messages and answers', async () => {
    const begun = gate()
    const silent = untilStopped(begun.open)
    const asker = (ctx: AgentContext) => ctx.ask({ text: 'Well?' })
    const one = await nodes.open({ agents: { silent: silent.run, asker } })
    const { id } = await one.run({ thread, agent: 'silent', prompt: 'go' })
    await begun.opened
    await one.run({ thread: 'other', agent: 'asker', prompt: 'go' })
    await expect.poll(() => one.questions()).toHaveLength(1)
    const [question] = await one.questions()
    const letGo = await readSlowly(one)
    expect(await one.send(id, { content: 'hello' })).toMatchObject({ isSent: true })
    expect(await one.answer(question?.id ?? '', 'yes')).toMatchObject({ answer: 'yes' })
    expect(await one.cancel(id)).toBe(true)
    await letGo()
  })
})
