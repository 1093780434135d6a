import { setImmediate as nextTurn } from 'node:timers/promises'
import { expect, it } from 'vitest'
import type { AgentContext } from '../../src/index.ts'
import { passTime } from './pass-time.ts'
import { eventsUntil, gate, onEachStore } from './world.ts'

// More turns of the event loop than a request takes on its way to the writer.
const turns = 20

// Several requests are decided one after the other and committed together. What the later ones are answered must not
// rest on an earlier one that is not committed in the end.
onEachStore(['memory', 'sqlite'], (_kind, world) => {
  it('a task is not refused a spawn for the sake of a cancel that was not stored', async () => {
    const here = world()
    const cancelling = gate()
    const agents = {
      parent: async (ctx: AgentContext) => {
        await ctx.say('begun')
        await cancelling.opened
        const child = await ctx.spawn({ agent: 'child' })
        return (await ctx.wait(child.id)).answer
      },
      child: () => 'grown',
    }
    const runtime = await here.open({ agents })
    const run = await runtime.run({ thread: 't', agent: 'parent', prompt: 'go' })
    await eventsUntil(runtime, { thread: 't' }, (event) => event.type === 'text.delta')
    here.store.plan((units) => (units.some((unit) => unit.operation === 'cancel') ? 'fail' : 'none'))
    // While this commit is held back, the cancel and the spawn gather for the next one, in this order.
    const held = here.store.hold()
    const other = runtime.spawn({ thread: 't', agent: 'child' })
    await held.reached
    const cancelled = expect(runtime.cancel(run.id)).rejects.toMatchObject({ code: 'store_unavailable' })
    for (let turn = 0; turn < turns; turn++) await nextTurn()
    cancelling.open()
    for (let turn = 0; turn < turns; turn++) await nextTurn()
    held.open()
    await cancelled
    await other
    const ended = await passTime(here.clock, runtime.wait(run.id))
    expect(ended).toMatchObject({ status: 'completed', result: 'grown' })
  })
})
