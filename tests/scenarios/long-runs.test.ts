import { describe, expect, it } from 'vitest'
import type { StoredEvent } from '../../src/core/event.ts'
import type { Unit } from '../../src/core/unit.ts'
import type { AgentContext } from '../../src/index.ts'
import type { Runtime } from '../../src/runtime/runtime.ts'
import type { EventQuery } from '../../src/stores/store.ts'
import type { FaultyStore } from '../../src/testing/faulty-store.ts'
import { forever, untilAttempt } from './attempts.ts'
import { inQuietTime } from './quiet-time.ts'
import { eventsUntil, onEachStore, type World } from './world.ts'

const isTakeover = (units: readonly Unit[]) => units.some((unit) => unit.operation === 'takeover')

/** What the store gives is noted, and its pages hold no more than `limit` events. */
function watchPages(store: FaultyStore, limit: number): { query: EventQuery; events: readonly StoredEvent[] }[] {
  const pages: { query: EventQuery; events: readonly StoredEvent[] }[] = []
  const { events } = store
  store.events = async (key, query) => {
    const page = await events(key, { ...query, limit: Math.min(query.limit, limit) })
    if (query.task) pages.push({ query, events: page.events })
    return page
  }
  return pages
}

/** Says and counts much, gets a step further in each attempt, and says something that the next attempt abandons. */
async function talker(ctx: AgentContext): Promise<never> {
  for (let n = 0; n < 20; n += 1) {
    await ctx.step('count', async () => {
      await ctx.progress(n / 20)
      await ctx.say(`${n} `)
    })
    if (n % 5 === 0) await ctx.say(`, ${n} `)
  }
  for (let n = 1; n <= ctx.attempt; n += 1) await ctx.step('attempt', () => n)
  await ctx.say(`attempt ${ctx.attempt} `)
  await ctx.emit('waiting')
  return forever()
}

const counted = Array.from({ length: 20 }, (_each, n) => (n % 5 === 0 ? `${n} , ${n} ` : `${n} `)).join('')

async function untilWaiting(runtime: Runtime, times: number): Promise<void> {
  let count = 0
  await eventsUntil(runtime, { thread: 't', types: ['custom'] }, () => ++count === times)
}

/** A run whose process died in each of so many attempts. */
async function crashed(here: World, agent: (ctx: AgentContext) => Promise<never>, attempts: number): Promise<string> {
  let id = ''
  for (let attempt = 1; attempt <= attempts; attempt += 1) {
    const runtime = await here.open({ agents: { agent } })
    if (attempt === 1) id = (await runtime.run({ thread: 't', agent: 'agent', prompt: 'go' })).id
    await untilAttempt(runtime, attempt)
    if (agent === talker) await untilWaiting(runtime, attempt)
    await here.quiet()
    await here.crash()
  }
  return id
}

/** Dies as often when it has taken the run over. */
async function dieTakingOver(here: World, agent: (ctx: AgentContext) => Promise<never>, times: number): Promise<void> {
  for (let time = 0; time < times; time += 1) {
    await here.open({ agents: { agent } }, (units) => (isTakeover(units) ? 'crash_after' : 'none'))
    await inQuietTime(here, here.store.crashed, 100)
    await here.crash()
  }
}

onEachStore(['memory', 'sqlite'], (_kind, world) => {
  describe('a run with a long log', () => {
    it('is shown by a node that does not execute it from what makes a part, whatever the pages', async () => {
      const here = world()
      const id = await crashed(here, talker, 2)
      const runtime = await here.open({ agents: {} })
      const pages = watchPages(here.store, 3)
      const all = await Promise.all(Array.from({ length: 5 }, () => runtime.thread('t')))
      const parts = [{ type: 'text', text: `${counted}attempt 2 ` }]
      for (const { live } of all) expect(live).toEqual([{ task: id, parts }])
      const types = new Set(pages.flatMap(({ events }) => events.map(({ type }) => type)))
      expect([...types].sort()).toEqual(['task.resumed', 'text.delta'])
    })

    it('goes on from what counts, whatever the pages', async () => {
      const here = world()
      const id = await crashed(here, talker, 2)
      const runtime = await here.open({ agents: { agent: talker } }, (units) => {
        if (isTakeover(units)) watchPages(here.store, 3)
        return 'none'
      })
      await untilWaiting(runtime, 3)
      const { live, tasks } = await runtime.thread('t')
      expect(live).toEqual([{ task: id, parts: [{ type: 'text', text: `${counted}attempt 3 ` }] }])
      expect(tasks[0]).toMatchObject({ attempt: 3, progress: 19 / 20 })
    })

    it('goes on without a look at its log if it has recorded no step', async () => {
      const here = world()
      await crashed(here, forever, 1)
      let pages: ReturnType<typeof watchPages> = []
      const runtime = await here.open({ agents: { agent: forever } }, (units) => {
        if (isTakeover(units)) pages = watchPages(here.store, 3)
        return 'none'
      })
      await untilAttempt(runtime, 2)
      expect(pages).toEqual([])
    })

    it('keeps what it had put out when it is poisoned, whatever the pages', async () => {
      const here = world()
      const id = await crashed(here, talker, 3)
      await dieTakingOver(here, talker, 3)
      const runtime = await here.open({ agents: { agent: talker } }, (units) => {
        if (isTakeover(units)) watchPages(here.store, 3)
        return 'none'
      })
      const task = await inQuietTime(here, runtime.wait(id), 100)
      expect(task).toMatchObject({ status: 'failed', error: { code: 'poisoned' }, partial: true })
      expect((await runtime.messages('t')).at(-1)?.parts).toEqual([{ type: 'text', text: `${counted}attempt 3 ` }])
    })
  })

  describe('a run that brings down who takes it over', () => {
    it('is poisoned, though its last attempt had recorded a step', async () => {
      const here = world()
      const id = await crashed(here, talker, 1)
      await dieTakingOver(here, talker, 4)
      const runtime = await here.open({ agents: { agent: talker } })
      const task = await inQuietTime(here, runtime.wait(id), 100)
      expect(task).toMatchObject({ status: 'failed', error: { code: 'poisoned' }, attempt: 1 })
    })

    it('goes on after a first takeover that failed, if its last attempt had recorded a step', async () => {
      const here = world()
      await crashed(here, talker, 3)
      await dieTakingOver(here, talker, 1)
      const runtime = await here.open({ agents: { agent: talker } })
      await untilWaiting(runtime, 4)
    })

    it('ends without what it had put out if three that were to end it died', async () => {
      const here = world()
      const run = async (ctx: AgentContext) => {
        await ctx.say('so far')
        return forever()
      }
      const id = await crashed(here, run, 3)
      await dieTakingOver(here, run, 3)
      const runtime = await here.open({ agents: { agent: run } })
      const task = await inQuietTime(here, runtime.wait(id), 100)
      expect(task).toMatchObject({ status: 'failed', error: { code: 'poisoned' } })
      expect(task?.partial).toBeUndefined()
    })

    it('ends though its log cannot be read', async () => {
      const here = world()
      const id = await crashed(here, forever, 3)
      const runtime = await here.open({ agents: { agent: forever } }, (units) => {
        if (isTakeover(units)) here.store.events = () => Promise.reject(new Error('a row is torn'))
        return 'none'
      })
      const ended = inQuietTime(here, runtime.wait(id), 100)
      expect(await ended).toMatchObject({ status: 'failed', error: { code: 'poisoned' } })
    })
  })
})
