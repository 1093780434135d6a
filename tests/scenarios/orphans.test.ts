import { describe, expect, it } from 'vitest'
import { type AgentContext, agent, type Runtime } from '../../src/index.ts'
import type { Store } from '../../src/stores/store.ts'
import { forever, untilAttempt } from './attempts.ts'
import { inQuietTime } from './quiet-time.ts'
import { gate, onEachStore, type World } from './world.ts'

/** Waits for a message that never comes, and so holds no slot; called again, it holds one for ever. */
async function waiter(ctx: AgentContext): Promise<unknown> {
  return ctx.attempt === 1 ? ctx.receive() : forever()
}

/** Whoever takes a task of thread `t` over does not get its log before it is let. */
function slowLog() {
  const [read, readable] = [gate(), gate()]
  const changed = (store: Store): Store => ({
    ...store,
    events: async (key, query) => {
      if (key === 'owner/t' && query.toDecide) {
        read.open()
        await readable.opened
      }
      return store.events(key, query)
    },
  })
  return { changed, read: read.opened, readable }
}

/** What is left of a task of thread `t` when its node is gone can only be ended. */
const endings: readonly (readonly [string, object, (here: World) => Promise<string>])[] = [
  [
    'is cancelled',
    { status: 'cancelled' },
    async (here) => {
      const before = await here.open({ agents })
      const id = await begun(before)
      await before.cancel(id)
      await here.crash()
      return id
    },
  ],
  [
    'is out of time',
    { status: 'failed', error: { code: 'timeout' } },
    async (here) => {
      const id = await begun(await here.open({ agents }), { timeoutMs: 60_000 })
      await here.crash()
      await here.clock.advance(60_000)
      return id
    },
  ],
  [
    'is of an agent that is not resumed',
    { status: 'failed', error: { code: 'orphaned' } },
    async (here) => {
      const id = await begun(await here.open({ agents }), { agent: 'once' })
      await here.crash()
      return id
    },
  ],
  [
    'was a function of its process',
    { status: 'failed', error: { code: 'orphaned' } },
    async (here) => {
      const before = await here.open()
      const { id } = await before.spawn({ thread: 't', run: forever })
      await untilAttempt(before, 1)
      await here.crash()
      return id
    },
  ],
  [
    'brings its node down',
    { status: 'failed', error: { code: 'poisoned' } },
    async (here) => {
      const id = await begun(await here.open({ agents }))
      await here.crash()
      for (const attempt of [2, 3]) {
        await untilAttempt(await here.open({ agents }), attempt)
        await here.crash()
      }
      return id
    },
  ],
]

const agents = { endless: forever, once: agent({ run: forever, isResumable: false }), echo: () => 'done' }

async function begun(runtime: Runtime, options: { agent?: string; timeoutMs?: number } = {}): Promise<string> {
  const { id } = await runtime.run({ thread: 't', agent: 'endless', prompt: 'go', ...options })
  await untilAttempt(runtime, 1)
  return id
}

onEachStore(['memory', 'sqlite'], (_kind, world) => {
  describe('a task that waits for a slot after a crash', () => {
    /** A runtime whose one slot is held by the task of `t`, and which has not got to what came after it. */
    async function crowded(here: World, timeoutMs?: number) {
      const options = { agents: { waiter }, concurrency: 1 }
      const before = await here.open(options)
      const run = (thread: string) => before.run({ thread, agent: 'waiter', prompt: thread })
      await run('t')
      await here.quiet()
      const { id } = await before.run({ thread: 'a', agent: 'waiter', prompt: 'a', ...(timeoutMs && { timeoutMs }) })
      await here.quiet()
      const next = await before.run({ thread: 'a', agent: 'waiter', prompt: 'next' })
      await here.crash()
      const runtime = await here.open(options)
      await untilAttempt(runtime, 2)
      await here.quiet()
      expect(await runtime.get(id)).toMatchObject({ status: 'running', attempt: 1 })
      return { runtime, id, next: next.id }
    }

    it('is cancelled all the same, and so is what is queued behind it', async () => {
      const here = world()
      const { runtime, id, next } = await crowded(here)
      expect(await runtime.cancelThread('a')).toEqual([id, next])
      expect(await runtime.wait(id)).toMatchObject({ status: 'cancelled', attempt: 1 })
      expect((await runtime.messages('a')).map(({ finish }) => finish)).toEqual([
        undefined,
        undefined,
        'cancelled',
        'cancelled',
      ])
    })

    it('does not keep its thread from being deleted', async () => {
      const here = world()
      const { runtime, id } = await crowded(here)
      await inQuietTime(here, runtime.deleteThread('a'), 100)
      expect(await runtime.get(id)).toBeUndefined()
    })

    it('fails when its time is over, and the next run is promoted', async () => {
      const here = world()
      const { runtime, id, next } = await crowded(here, 60_000)
      await here.clock.advance(58_000)
      await here.quiet()
      expect(await runtime.get(id)).toMatchObject({ status: 'running' })
      const task = await inQuietTime(here, runtime.wait(id), 100)
      expect(task).toMatchObject({ status: 'failed', error: { code: 'timeout' }, attempt: 1 })
      expect(await runtime.get(next)).toMatchObject({ status: 'pending', position: 0 })
    })
  })

  describe('a task that can only be ended, and whose log is long to read', () => {
    it.each(endings)('holds no slot and keeps nothing from being started: it %s', async (_how, outcome, orphaned) => {
      const here = world()
      const id = await orphaned(here)
      const { changed, read, readable } = slowLog()
      const freed = gate()
      const options = { agents: { ...agents, busy: () => freed.opened }, concurrency: 1 }
      const runtime = await here.open(options, undefined, changed)
      await read
      const busy = await runtime.run({ thread: 'a', agent: 'busy', prompt: 'go' })
      expect(await runtime.get(busy.id)).toMatchObject({ status: 'running' })
      const next = await runtime.run({ thread: 'b', agent: 'echo', prompt: 'go' })
      expect(await runtime.get(next.id)).toMatchObject({ status: 'pending' })
      freed.open()
      expect(await runtime.wait(next.id)).toMatchObject({ status: 'completed' })
      expect(await runtime.get(id)).toMatchObject({ status: expect.stringMatching('running|pending') })
      readable.open()
      expect(await runtime.wait(id)).toMatchObject(outcome)
    })
  })

  describe('a task of an agent that is not resumed', () => {
    it('is ended while no slot is free', async () => {
      const here = world()
      const before = await here.open({ agents })
      await before.run({ thread: 'a', agent: 'endless', prompt: 'go' })
      const id = await begun(before, { agent: 'once' })
      await here.crash()
      const runtime = await here.open({ agents, concurrency: 1 })
      expect(await inQuietTime(here, runtime.wait(id), 100)).toMatchObject({ error: { code: 'orphaned' } })
      expect((await runtime.list({ status: ['running'] })).tasks.map(({ thread }) => thread)).toEqual(['a'])
    })
  })

  describe('tasks of an agent that is not resumed and has a limit', () => {
    it('are ended while the agent executes as many as it may', async () => {
      const here = world()
      const run = (ctx: AgentContext, isBusy: boolean) => (isBusy ? forever() : ctx.receive())
      const options = { agents: { few: agent({ run, isResumable: false, concurrency: 1 }) }, concurrency: 1 }
      const before = await here.open(options)
      const ids: string[] = []
      for (const [thread, isBusy] of [...'abc'].map((name) => [name, name === 'c'] as const)) {
        ids.push((await before.spawn({ thread, agent: 'few', input: isBusy })).id)
        await here.quiet()
      }
      const next = await before.spawn({ thread: 'd', agent: 'few', input: true })
      await here.crash()
      const runtime = await here.open(options)
      for (const id of ids) {
        expect(await inQuietTime(here, runtime.wait(id), 100)).toMatchObject({ error: { code: 'orphaned' } })
      }
      expect(await runtime.get(next.id)).toMatchObject({ status: 'running', attempt: 1 })
    })
  })

  describe('a task whose agent is not there at the next start', () => {
    it('fails when its time is over, and the next run starts', async () => {
      const here = world()
      const before = await here.open({ agents: { rare: forever, echo: () => 'done' } })
      const { id } = await before.run({ thread: 't', agent: 'rare', prompt: 'go', timeoutMs: 60_000 })
      const next = await before.run({ thread: 't', agent: 'echo', prompt: 'go' })
      await untilAttempt(before, 1)
      await here.crash()
      const runtime = await here.open({ agents: { echo: () => 'done' } })
      const task = await inQuietTime(here, runtime.wait(id), 100)
      expect(task).toMatchObject({ status: 'failed', error: { code: 'timeout' } })
      expect((task?.completedAt ?? 0) - (task?.startedAt ?? 0)).toBeLessThan(62_000)
      expect(await runtime.wait(next.id)).toMatchObject({ status: 'completed' })
    })

    it('has all the time that its question waits', async () => {
      const here = world()
      const rare = (ctx: AgentContext) => ctx.ask({ text: 'Really?' })
      const before = await here.open({ agents: { rare } })
      const { id } = await before.run({ thread: 't', agent: 'rare', prompt: 'go', timeoutMs: 60_000 })
      await here.quiet()
      await here.clock.advance(10_000)
      await here.crash()
      const runtime = await here.open()
      await here.clock.advance(100_000)
      await here.quiet()
      expect(await runtime.get(id)).toMatchObject({ status: 'running' })
      const [question] = await runtime.questions()
      await runtime.answer(question?.id ?? '', 'yes')
      await here.clock.advance(58_000)
      await here.quiet()
      expect(await runtime.get(id)).toMatchObject({ status: 'running' })
      const task = await inQuietTime(here, runtime.wait(id), 100)
      expect(task).toMatchObject({ status: 'failed', error: { code: 'timeout' } })
    })
  })
})
