import { expect, it } from 'vitest'
import type { Unit } from '../../src/core/unit.ts'
import type { AgentContext, Task } from '../../src/index.ts'
import { deaf, echo, empty, keyOf, thread, withHistory } from './deletion.ts'
import { heldAgent } from './held-agent.ts'
import { passTime } from './pass-time.ts'
import { ask, ended, idOf, lead } from './wakes.ts'
import { eventsUntil, logOf, onEachStore } from './world.ts'

onEachStore(['memory', 'sqlite'], (_kind, world) => {
  it('a deleted thread is empty, its tasks are unknown, and its numbers go on', async () => {
    const runtime = await world().open({ agents: { echo } })
    const old = await withHistory(runtime, 'old')
    const { head } = await runtime.thread(thread)
    await runtime.deleteThread(thread)
    expect(await runtime.thread(thread)).toMatchObject({ ...empty, head, first: head + 1 })
    expect(await runtime.get(old)).toBeUndefined()
    expect(await runtime.wait(old)).toBeUndefined()
    expect((await runtime.threads()).threads).toEqual([])
    const { id } = await runtime.run({ thread, agent: 'echo', prompt: 'new', idempotencyKey: 'key-old' })
    expect(id).not.toBe(old)
    await runtime.wait(id)
    const log = await eventsUntil(runtime, { thread, after: head }, (event) => event.type === 'task.completed')
    expect(log[0]).toMatchObject({ seq: head + 1, type: 'task.accepted', task: id })
    expect((await runtime.messages(thread)).map(({ role }) => role)).toEqual(['user', 'assistant'])
    expect((await runtime.threads()).threads).toMatchObject([{ thread, first: head + 1 }])
  })

  it('a delete of a thread never used, or of one deleted before, stores nothing', async () => {
    const here = world()
    const runtime = await here.open({ agents: { echo } })
    await runtime.deleteThread('never')
    expect(here.committed).toEqual([])
    expect(await here.store.livePart(keyOf('never'))).toBeUndefined()
    await withHistory(runtime, 'old')
    await runtime.deleteThread(thread)
    const count = here.committed.length
    await runtime.deleteThread(thread)
    expect(here.committed.length).toBe(count)
  })

  it('a delete ends who watches a thread, also one that is empty', async () => {
    const here = world()
    const runtime = await here.open({ agents: { echo } })
    const watching = eventsUntil(runtime, { thread: 'never' }, () => false)
    await expect.poll(async () => (await runtime.thread('never')).watchers).toBe(1)
    const firehose = await runtime.openFirehose()
    await runtime.deleteThread('never')
    expect(await watching).toEqual([])
    await withHistory(runtime, 'old')
    await here.clock.advance(1_000)
    expect(await firehose.next()).toBeDefined()
    firehose.close()
  })

  it('a delete refuses a thread id that cannot be', async () => {
    const runtime = await world().open()
    await expect(runtime.deleteThread('a/b')).rejects.toMatchObject({ code: 'invalid_request' })
  })

  it('a delete touches no thread of another principal with the same id, nor another of its own', async () => {
    const runtime = await world().open({ agents: { echo } })
    const other = runtime.as('other')
    const mine = await withHistory(runtime, 'mine')
    const theirs = await withHistory(other, 'theirs')
    const { id: beside } = await runtime.run({ thread: 'beside', agent: 'echo', prompt: 'beside' })
    await runtime.wait(beside)
    const before = [await logOf(other, thread), await logOf(runtime, 'beside')]
    await runtime.deleteThread(thread)
    expect([await logOf(other, thread), await logOf(runtime, 'beside')]).toEqual(before)
    expect(await runtime.get(mine)).toBeUndefined()
    expect(await other.get(theirs)).toMatchObject({ status: 'completed' })
  })

  it('a delete cancels all that lives, detached tasks and the queue too, and watchers see the endings', async () => {
    const held = heldAgent()
    const family = async (ctx: AgentContext) => {
      await ctx.spawn({ agent: 'held', prompt: 'attached' })
      await ctx.spawn({ agent: 'held', prompt: 'detached', detached: true })
      return ctx.sleep(1_000_000)
    }
    const runtime = await world().open({ agents: { family, held } })
    const { id } = await runtime.run({ thread, agent: 'family', prompt: 'go' })
    await Promise.all([held.started('attached'), held.started('detached')])
    const queued = await runtime.run({ thread, agent: 'held', prompt: 'queued' })
    const watching = eventsUntil(runtime, { thread }, () => false)
    const deleting = runtime.deleteThread(thread)
    const seen = await watching
    await deleting
    const endings = seen.filter((event) => event.type === 'task.cancelled').map((event) => event.task)
    expect(endings.toSorted()).toEqual(['bg_1', 'bg_2', id, queued.id].toSorted())
    expect(seen.map((event) => event.seq)).toEqual(seen.map((_, n) => n + 1))
    const asked = seen.filter((event) => event.type === 'task.cancelling').map((event) => event.data)
    expect(asked).toEqual(Array(3).fill({ by: 'owner', reason: 'the thread is deleted' }))
    expect(await runtime.thread(thread)).toMatchObject({ ...empty, head: seen.length, first: seen.length + 1 })
    expect(held.begun).not.toContain('queued')
  })

  it('a delete ends by force what ignores its cancel, and nothing it says later is kept', async () => {
    const here = world()
    const agent = deaf()
    const runtime = await here.open({ agents: { deaf: agent.run }, graceMs: 5_000 })
    await runtime.run({ thread, agent: 'deaf', prompt: 'go' })
    await agent.begun
    let isDone = false
    const deleting = runtime.deleteThread(thread).then(() => {
      isDone = true
    })
    await here.quiet()
    await here.clock.advance(4_999)
    await here.quiet()
    expect(isDone).toBe(false)
    await passTime(here.clock, deleting)
    const { head } = await runtime.thread(thread)
    agent.letGo()
    await here.quiet()
    expect(await runtime.thread(thread)).toMatchObject({ ...empty, head, first: head + 1 })
  })

  it('a delete leaves a child in another thread alone', async () => {
    const held = heldAgent()
    const parent = async (ctx: AgentContext) => {
      await ctx.spawn({ agent: 'held', prompt: 'elsewhere', thread: 'other' })
      return ctx.sleep(1_000_000)
    }
    const runtime = await world().open({ agents: { parent, held } })
    await runtime.run({ thread, agent: 'parent', prompt: 'go' })
    await held.started('elsewhere')
    await runtime.deleteThread(thread)
    const [child] = (await runtime.list({ thread: 'other' })).tasks
    expect(child).toMatchObject({ status: 'running' })
    held.release('elsewhere')
    expect(await runtime.wait(child?.id ?? '')).toMatchObject({ status: 'completed' })
  })

  it('a delete starts no wake', async () => {
    const here = world()
    const held = heldAgent()
    const runtime = await here.open({ agents: { lead, held } })
    await runtime.wait((await ask(runtime, 'one two')).id)
    await Promise.all([held.started('one'), held.started('two')])
    expect(await runtime.get(await idOf(runtime, 'one'))).toMatchObject({ status: 'running' })
    const watching = eventsUntil(runtime, { thread }, () => false)
    await runtime.deleteThread(thread)
    const accepted = (await watching).filter((event) => event.type === 'task.accepted')
    expect(accepted.length).toBe(3)
    expect((await runtime.list({ thread })).tasks).toEqual([])
  })

  it('a delete takes results that nobody collected, and those that were to wake the thread', async () => {
    const held = heldAgent()
    const runtime = await world().open({ agents: { lead, held } })
    await runtime.wait((await ask(runtime, 'one', { onResult: 'collect' })).id)
    await held.started('one')
    await ended(runtime, held, 'one')
    expect((await runtime.results(thread)).results.length).toBe(1)
    await runtime.deleteThread(thread)
    expect(await runtime.results(thread)).toEqual({ results: [], running: 0 })
  })

  it('a delete of a long thread is many small commits, and others go in between', async () => {
    const here = world()
    const runtime = await here.open()
    const emitting = async (ctx: AgentContext) => {
      for (let n = 0; n < 100_000; n++) await ctx.emit('tick', n)
    }
    const { id } = await runtime.spawn({ thread, run: emitting })
    await runtime.wait(id)
    for (let n = 0; n < 150; n++) await runtime.spawn({ thread, run: () => n })
    await here.quiet()
    const erased: Unit[] = []
    let between: Promise<Task> | undefined
    here.store.plan((units) => {
      erased.push(...units.filter(({ operation }) => operation === 'erase'))
      between ??= runtime.spawn({ thread: 'other', run: () => erased.length })
      return 'none'
    })
    await runtime.deleteThread(thread)
    const other = await between
    expect((await runtime.wait(other?.id ?? ''))?.result).toBeLessThan(erased.length)
    expect(erased.filter(({ trim }) => trim !== undefined).length).toBeGreaterThan(1)
    expect(erased.filter(({ eraseTasks }) => eraseTasks !== undefined).length).toBeGreaterThan(1)
    expect(erased.at(-1)?.erase).toBe(true)
    const { head, first, tasks } = await runtime.thread(thread)
    expect([first, tasks]).toEqual([head + 1, []])
  })

  it('a subscription that begins before what is left is told so', async () => {
    const runtime = await world().open({ agents: { echo } })
    await withHistory(runtime, 'old')
    const { head } = await runtime.thread(thread)
    await runtime.deleteThread(thread)
    const behind = runtime.subscribe({ thread, after: head - 1 })
    await expect(behind.next()).rejects.toMatchObject({ code: 'offset_gone', facts: { first: head + 1 } })
  })
})
