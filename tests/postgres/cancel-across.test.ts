import { describe, expect, it } from 'vitest'
import type { AgentContext } from '../../src/index.ts'
import { gate } from '../scenarios/world.ts'
import { severalNodes, untilStopped, watch } from './several-nodes.ts'

const nodes = severalNodes()
const thread = 't'

describe.each([
  { isDeaf: false, how: 'by notices' },
  { isDeaf: true, how: 'with every notice lost' },
])('a cancel on another node, $how', ({ isDeaf }) => {
  it('CANC-21 reaches a run that writes nothing, which ends cancelled', async () => {
    const begun = gate()
    const silent = untilStopped(begun.open)
    const one = await nodes.open({ agents: { silent: silent.run }, isDeaf })
    const two = await nodes.open({ isDeaf })
    const { id } = await one.run({ thread, agent: 'silent', prompt: 'go' })
    await begun.opened
    const seen = watch(two, thread)
    const cancelling = two.cancelThread(thread)
    expect(await silent.stopped).toBe('cancel')
    expect(await cancelling).toEqual([id])
    await seen.until('task.cancelled')
    expect(seen.events.map(({ type }) => type).filter((type) => type.startsWith('task.'))).toEqual([
      'task.accepted',
      'task.started',
      'task.cancelling',
      'task.cancelled',
    ])
    expect(await two.get(id)).toMatchObject({ status: 'cancelled' })
  })

  it('CANC-21 ends a queued run without starting it, also where the thread was known to be idle', async () => {
    const begun = gate()
    const silent = untilStopped(begun.open)
    const agents = { silent: silent.run, echo: async () => 'done' }
    const [one, two] = [await nodes.open({ agents, isDeaf }), await nodes.open({ agents, isDeaf })]
    // The other node has decided something in the thread, and remembers it as it was then.
    const { id } = await two.run({ thread, agent: 'echo', prompt: 'first' })
    await two.wait(id)
    const active = await one.run({ thread, agent: 'silent', prompt: 'go' })
    const queued = await one.run({ thread, agent: 'silent', prompt: 'later' })
    expect(await two.cancelThread(thread)).toEqual([active.id, queued.id])
    expect(await one.get(queued.id)).toMatchObject({ status: 'cancelled', attempt: 0 })
    expect(await one.wait(active.id)).toMatchObject({ status: 'cancelled' })
  })

  it('reaches the children of a run that are executed on a third node', async () => {
    const [childBegun, parentBegun] = [gate(), gate<string>()]
    const child = untilStopped(childBegun.open)
    const parent = async (ctx: AgentContext) => {
      const { id } = await ctx.spawn({ agent: 'child' })
      parentBegun.open(id)
      // Until then it keeps the one slot of its node.
      await childBegun.opened
      return ctx.wait(id)
    }
    const one = await nodes.open({ agents: { parent, child: child.run }, concurrency: 1, isDeaf })
    await nodes.open({ agents: { child: child.run }, isDeaf })
    const three = await nodes.open({ isDeaf })
    const { id } = await one.run({ thread, agent: 'parent', prompt: 'go' })
    await childBegun.opened
    expect(await three.cancelTask(id)).toEqual([id, await parentBegun.opened])
    expect(await child.stopped).toBe('cancel')
    expect(await three.wait(id)).toMatchObject({ status: 'cancelled' })
  })
})

describe('progress and usage', () => {
  it('are not put back by a cancel that another node decides from an older record', async () => {
    const [begun, goOn, told] = [gate(), gate(), gate()]
    const agents = {
      helper: async (ctx: AgentContext) => {
        await ctx.progress(0.1)
        begun.open()
        await goOn.opened
        await ctx.progress(0.9)
        await ctx.usage({ tokens: 7 })
        await ctx.step('written', () => 1)
        told.open()
        await new Promise((_resolve, reject) => ctx.signal.addEventListener('abort', () => reject(ctx.signal.reason)))
      },
    }
    const [one, two] = [await nodes.open({ agents }), await nodes.open({ agents, isDeaf: true })]
    const { id } = await one.run({ thread, agent: 'helper', prompt: 'go' })
    await begun.opened
    // It reads the thread for this, and remembers the run as it is now.
    await two.spawn({ thread, run: () => 1 })
    goOn.open()
    await told.opened
    const steered = await two.run({ thread, agent: 'helper', prompt: 'more', onBusy: 'steer' })
    expect(steered).toMatchObject({ id, progress: 0.9, usage: { tokens: 7 } })
    await two.cancelTask(id)
    const ended = await two.wait(id)
    expect(ended).toMatchObject({ status: 'cancelled', progress: 0.9, usage: { tokens: 7 } })
  })
})

describe('a cancel that no notice told of', () => {
  it('is found as soon as ever while what the node counts takes for ever', async () => {
    const begun = gate()
    const silent = untilStopped(begun.open)
    const one = await nodes.open({ agents: { silent: silent.run }, isDeaf: true, countsForEver: true })
    const two = await nodes.open({ isDeaf: true })
    // A first round of all that is looked at now and then.
    await one.wait((await two.spawn({ thread: 'other', run: () => 'done' })).id)
    const { id } = await one.run({ thread, agent: 'silent', prompt: 'go' })
    await begun.opened
    await two.cancelTask(id)
    expect(await silent.stopped).toBe('cancel')
    expect(await two.wait(id)).toMatchObject({ status: 'cancelled' })
  })
})
