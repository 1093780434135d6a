import { expect, it } from 'vitest'
import type { AgentContext, Runtime } from '../../src/index.ts'
import { LogStretch } from '../../src/runtime/log-stretch.ts'
import { answered, echo } from './pruned.ts'
import { onEachStore } from './world.ts'

const thread = 't'

async function flood(ctx: AgentContext): Promise<void> {
  for (let n = 0; n < 1000; n++) await ctx.emit('tick', 'x'.repeat(100))
}

/** The first stretch of the log, as a reader gets it who then stays. */
async function firstStretch(runtime: Runtime): Promise<LogStretch> {
  const cursor = await runtime.openLog({ thread })
  const batch = await cursor.next()
  if (!(batch instanceof LogStretch)) throw new Error('The store keeps rows of lines')
  return batch
}

onEachStore(['sqlite'], (_kind, world) => {
  const maker = {}

  /** A log that is read twice, and a third reading of it that finds what the second one made. */
  async function readOften(runtime: Runtime) {
    let madeCount = 0
    const encode = (stretch: LogStretch) =>
      stretch.made(maker, () => {
        madeCount += 1
        return Buffer.from('made')
      })
    for (let n = 0; n < 3; n++) encode(await firstStretch(runtime))
    expect(madeCount).toBe(2)
    const kept = await firstStretch(runtime)
    const madeAgain = () => {
      encode(kept)
      return madeCount - 2
    }
    return { madeAgain }
  }

  it('what was made of a log for its readers goes with its thread', async () => {
    const runtime = await world().open({ agents: { flood } })
    await runtime.wait((await runtime.run({ thread, agent: 'flood', prompt: 'go' })).id)
    const { madeAgain } = await readOften(runtime)
    await runtime.deleteThread(thread)
    expect([madeAgain(), madeAgain(), madeAgain()]).toEqual([1, 2, 3])
  })

  it('what was made of a log for its readers goes when the log is trimmed', async () => {
    const runtime = await world().open({ agents: { flood, echo } })
    await runtime.wait((await runtime.run({ thread, agent: 'flood', prompt: 'go' })).id)
    await answered(runtime, thread, 'last')
    const { madeAgain } = await readOften(runtime)
    expect((await runtime.prune({ eventsPerThread: 1 })).events).toBeGreaterThan(0)
    expect(madeAgain()).toBe(1)
  })

  it('what one principal was sent is not found by another whose thread has the same name', async () => {
    const runtime = await world().open({ agents: { flood } })
    const bob = runtime.as('bob')
    for (const each of [runtime, bob]) await each.wait((await each.run({ thread, agent: 'flood', prompt: 'go' })).id)
    const { madeAgain } = await readOften(runtime)
    let isMade = false
    ;(await firstStretch(bob)).made(maker, () => {
      isMade = true
      return Buffer.from('of bob')
    })
    expect([isMade, madeAgain()]).toEqual([true, 0])
  })
})
