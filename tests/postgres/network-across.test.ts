import { describe, expect, it } from 'vitest'
import type { AgentContext } from '../../src/index.ts'
import { systemClock } from '../../src/runtime/clock.ts'
import { gate } from '../scenarios/world.ts'
import { severalNodes, untilStopped } from './several-nodes.ts'

const nodes = severalNodes()
const thread = 't'
const agents = { echo: async () => 'done' }

describe('a node that gets no answer', () => {
  it('is unready and refuses new work while a commit is unanswered, and takes it up again when it is', async () => {
    const one = await nodes.open({ agents, isRemote: true, lateMs: 200 })
    await one.wait((await one.run({ thread, agent: 'echo', prompt: 'go' })).id)
    await expect.poll(() => one.isReady()).toBe(true)
    nodes.network.loseAnswers('commit_units', 1_000)
    const accepting = one.run({ thread, agent: 'echo', prompt: 'unknown' })
    await expect.poll(() => one.isReady()).toBe(false)
    await expect(one.run({ thread, agent: 'echo', prompt: 'refused' })).rejects.toMatchObject({
      code: 'store_unavailable',
    })
    nodes.network.loseAnswers('commit_units', 0)
    const { id } = await accepting
    expect(await one.wait(id)).toMatchObject({ status: 'completed' })
    await expect.poll(() => one.isReady()).toBe(true)
    expect((await one.list()).tasks).toHaveLength(2)
  })

  it('is unready while its network is stalled, and what nobody could decide is refused and not made', async () => {
    const one = await nodes.open({ agents, isRemote: true, lateMs: 200 })
    nodes.network.stall()
    const refusal = expect(one.run({ thread, agent: 'echo', prompt: 'refused' })).rejects.toMatchObject({
      code: 'store_unavailable',
    })
    await expect.poll(() => one.isReady()).toBe(false)
    await refusal
    nodes.network.resume()
    await expect.poll(() => one.isReady()).toBe(true)
    expect((await one.list()).tasks).toEqual([])
  })

  it('is unready also when it had nothing to write, and comes back by itself', async () => {
    const one = await nodes.open({ agents, isRemote: true, leaseMs: 600 })
    await expect.poll(() => one.isReady()).toBe(true)
    nodes.network.refuse()
    await expect.poll(() => one.isReady()).toBe(false)
    nodes.network.accept()
    await expect.poll(() => one.isReady()).toBe(true)
    expect(await one.wait((await one.run({ thread, agent: 'echo', prompt: 'go' })).id)).toMatchObject({
      status: 'completed',
    })
  })
})

describe('nodes whose clocks differ by minutes', () => {
  const skewed = (byMs: number) => ({ ...systemClock, now: () => systemClock.now() + byMs })

  it('keep leases, deadlines and time-outs by the clock of the store', async () => {
    const begun = gate()
    const silent = untilStopped(begun.open)
    const asker = async (ctx: AgentContext) => {
      await ctx.sleep(20)
      return (await ctx.ask({ text: 'Well?', timeoutMs: 50, default: 'none' })).answer
    }
    const all = { silent: silent.run, asker }
    const fast = await nodes.open({ agents: all, clock: skewed(300_000) })
    const slow = await nodes.open({ agents: all, clock: skewed(-300_000) })
    const { id } = await fast.run({ thread, agent: 'silent', prompt: 'go', timeoutMs: 120_000 })
    await begun.opened
    const asked = await slow.run({ thread: 'other', agent: 'asker', prompt: 'go', timeoutMs: 60_000 })
    expect(await fast.wait(asked.id)).toMatchObject({ status: 'completed', result: 'none' })
    const { createdAt = 0, completedAt = 0 } = (await slow.get(asked.id)) ?? {}
    expect(Math.abs(completedAt - createdAt)).toBeLessThan(30_000)
    expect(Math.abs(createdAt - Date.now())).toBeLessThan(60_000)
    expect(await slow.get(id)).toMatchObject({ status: 'running', attempt: 1 })
    await slow.cancelTask(id)
    expect(await silent.stopped).toBe('cancel')
  })
})
