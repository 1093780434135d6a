import { describe, expect, it } from 'vitest'
import { type AgentContext, agent, type Runtime } from '../../src/index.ts'
import type { Store } from '../../src/stores/store.ts'
import { forever } from './attempts.ts'
import { inQuietTime } from './quiet-time.ts'
import { eventsUntil, gate, onEachStore, type World } from './world.ts'

type Unreadable = 'steps' | 'log'

/** Called again, it is done. */
async function worker(ctx: AgentContext): Promise<unknown> {
  await ctx.say('so far ')
  return ctx.attempt === 1 ? forever() : 'done'
}

const once = agent({ run: worker, isResumable: false })
const agents = { worker, once, echo: () => 'done' }

/** A runtime on the run of thread `t` that was left behind, of which it cannot read what is needed to take it over. */
async function orphaned(here: World, what: Unreadable, name: 'worker' | 'once' = 'worker') {
  const before = await here.open({ agents })
  const { id } = await before.run({ thread: 't', agent: name, prompt: 'go' })
  await eventsUntil(before, { thread: 't' }, (event) => event.type === 'text.delta')
  await here.crash()
  const state = { isUnreadable: true, onRead: async () => {} }
  const check = async (isIt: boolean) => {
    if (isIt) await state.onRead()
    if (isIt && state.isUnreadable) throw new Error('a row cannot be read')
  }
  const changed = (store: Store): Store => ({
    ...store,
    steps: async (task, which) => {
      await check(what === 'steps' && task === id)
      return store.steps(task, which)
    },
    events: async (key, query) => {
      await check(what === 'log' && key === 'owner/t' && query.toDecide === true)
      return store.events(key, query)
    },
  })
  const freed = gate()
  const busy = () => freed.opened
  const runtime = await here.open({ agents: { ...agents, busy }, concurrency: 1 }, undefined, changed)
  await here.quiet()
  const takeovers = () => here.committed.filter(({ operation }) => operation === 'takeover').length
  return { runtime, id, state, freed, takeovers }
}

/** Each of them is found by a look for work of its own. */
async function runSome(runtime: Runtime): Promise<void> {
  const threads = Array.from({ length: 10 }, (_, n) => `q${n}`)
  const runs = await Promise.all(threads.map((thread) => runtime.run({ thread, agent: 'echo', prompt: 'go' })))
  for (const { id } of runs) expect(await runtime.wait(id)).toMatchObject({ status: 'completed' })
}

async function passQuietTime(here: World, ms: number): Promise<void> {
  for (let passed = 0; passed < ms; passed += 100) {
    await here.clock.advance(100)
    await here.quiet()
  }
}

onEachStore(['memory', 'sqlite'], (_kind, world) => {
  describe('an orphan that cannot be read', () => {
    it.each<[Unreadable, 'worker' | 'once']>([
      ['steps', 'worker'],
      ['log', 'worker'],
      ['log', 'once'],
    ])('is left alone for a while, whatever else is done meanwhile: the %s of %s', async (what, name) => {
      const { runtime, takeovers } = await orphaned(world(), what, name)
      expect(takeovers()).toBe(1)
      await runSome(runtime)
      expect(takeovers()).toBe(1)
    })

    it('rests longer each time, some seconds at most, and goes on once it can be read', async () => {
      const here = world()
      const { runtime, id, state, takeovers } = await orphaned(here, 'steps')
      await passQuietTime(here, 3_000)
      const before = takeovers()
      expect(before).toBeGreaterThan(4)
      await passQuietTime(here, 10_000)
      expect(takeovers() - before).toBeGreaterThan(3)
      expect(takeovers() - before).toBeLessThan(7)
      state.isUnreadable = false
      expect(await inQuietTime(here, runtime.wait(id), 100)).toMatchObject({ status: 'completed', attempt: 2 })
    })

    it('does not keep others of its thread from being started', async () => {
      const here = world()
      const { runtime, freed } = await orphaned(here, 'steps')
      await runtime.run({ thread: 'a', agent: 'busy', prompt: 'go' })
      const child = await runtime.spawn({ thread: 't', agent: 'echo' })
      expect(await runtime.get(child.id)).toMatchObject({ status: 'pending' })
      freed.open()
      expect(await runtime.wait(child.id)).toMatchObject({ status: 'completed' })
    })

    it('is cancelled while it rests', async () => {
      const here = world()
      const { runtime, id } = await orphaned(here, 'steps')
      await runtime.cancel(id)
      expect(await runtime.wait(id)).toMatchObject({ status: 'cancelled', attempt: 1 })
    })

    it('is cancelled while it is read once more, without another rest', async () => {
      const here = world()
      const { runtime, id, state } = await orphaned(here, 'steps')
      const [read, readable] = [gate(), gate()]
      await passQuietTime(here, 3_000)
      state.onRead = () => {
        read.open()
        return readable.opened
      }
      await inQuietTime(here, read.opened, 100)
      await runtime.cancel(id)
      readable.open()
      await here.quiet()
      expect(await runtime.get(id)).toMatchObject({ status: 'cancelled', attempt: 1 })
    })

    it('does not keep its thread from being deleted', async () => {
      const here = world()
      const { runtime, id } = await orphaned(here, 'steps')
      await inQuietTime(here, runtime.deleteThread('t'), 100)
      expect(await runtime.get(id)).toBeUndefined()
    })

    it('ends without what it had put out if it is to end and its log cannot be read for a minute', async () => {
      const here = world()
      const { runtime, id } = await orphaned(here, 'log', 'once')
      await passQuietTime(here, 55_000)
      expect(await runtime.get(id)).toMatchObject({ status: 'running' })
      expect(await inQuietTime(here, runtime.wait(id), 100)).toMatchObject({ error: { code: 'orphaned' } })
    })

    it('leaves no timer behind when the runtime closes', async () => {
      const here = world()
      const { runtime } = await orphaned(here, 'steps')
      await runtime.close({ drainMs: 0 })
      expect(here.clock.pendingTimerCount).toBe(0)
    })
  })
})
