import { expect, it } from 'vitest'
import type { AgentContext } from '../../src/index.ts'
import { heldAgent } from './held-agent.ts'
import { answered, echo, keptOf, nothing } from './pruned.ts'
import { eventsUntil, onEachStore } from './world.ts'

const thread = 't'
const all = { eventsPerThread: 1 }

onEachStore(['memory', 'sqlite'], (_kind, world) => {
  it('a prune by age removes the events that are older, and no others', async () => {
    const here = world()
    const runtime = await here.open({ agents: { echo } })
    await answered(runtime, thread, 'old')
    const { head: old } = await runtime.thread(thread)
    await here.clock.advance(10_000)
    await answered(runtime, thread, 'new')
    expect(await runtime.prune({ eventsMs: 10_001 })).toEqual(nothing)
    expect(await runtime.prune({ eventsMs: 9_999 })).toEqual({ ...nothing, events: old })
    expect((await keptOf(runtime, thread)).first).toBe(old + 1)
    expect(await runtime.prune({ eventsMs: 9_999 })).toEqual(nothing)
  })

  it('a prune by count keeps the newest events, and the one by which a thread is found', async () => {
    const here = world()
    const runtime = await here.open({ agents: { echo } })
    for (const prompt of ['a', 'b', 'c', 'd']) await answered(runtime, thread, prompt)
    const { head } = await runtime.thread(thread)
    expect(await runtime.prune({ eventsPerThread: head })).toEqual(nothing)
    const { events } = await runtime.prune({ eventsPerThread: 8 })
    const kept = await keptOf(runtime, thread)
    expect(events).toBe(kept.first - 1)
    expect(head - kept.first + 1).toBeGreaterThanOrEqual(8)
    // A row holds the events of one commit, of which a run makes a few.
    expect(head - kept.first + 1).toBeLessThan(16)
    await here.clock.advance(10_000)
    await runtime.prune({ eventsMs: 1, eventsPerThread: 1 })
    expect((await keptOf(runtime, thread)).first).toBeLessThanOrEqual(head)
    expect((await runtime.threads()).threads).toMatchObject([{ thread, head }])
  })

  it('messages, tasks, results and their numbers stay when their events are gone', async () => {
    const here = world()
    const runtime = await here.open({ agents: { echo } })
    const ids = [await answered(runtime, thread, 'a'), await answered(runtime, thread, 'b')]
    const before = await runtime.thread(thread)
    const tasks = await Promise.all(ids.map((id) => runtime.get(id)))
    await runtime.prune(all)
    const { first } = await keptOf(runtime, thread)
    expect(first).toBeGreaterThan(tasks[0]?.seq ?? 0)
    expect(await runtime.thread(thread)).toEqual({ ...before, first })
    expect(await Promise.all(ids.map((id) => runtime.get(id)))).toEqual(tasks)
    expect(await runtime.wait(ids[0] ?? '')).toEqual(tasks[0])
    expect((await runtime.messages(thread)).length).toBe(4)
    const next = await answered(runtime, thread, 'c')
    expect((await runtime.get(next))?.seq).toBeGreaterThan(before.head)
    const again = await runtime.run({ thread, agent: 'echo', prompt: 'a' })
    expect((await runtime.wait(again.id))?.status).toBe('completed')
  })

  it('no event of a live task goes, so that what it has said is whole, and goes when it has ended', async () => {
    const held = heldAgent()
    const runtime = await world().open({ agents: { echo, held } })
    await answered(runtime, thread, 'before')
    const { head: before } = await runtime.thread(thread)
    const live = await runtime.run({ thread, agent: 'held', prompt: 'live' })
    const ctx = await held.started('live')
    for (const word of ['one ', 'two ', 'three']) await ctx.say(word)
    await eventsUntil(runtime, { thread }, (event) => event.type === 'text.delta' && event.data.text === 'three')
    await runtime.prune(all)
    expect((await keptOf(runtime, thread)).first).toBe(before + 1)
    expect((await runtime.thread(thread)).live).toEqual([
      { task: live.id, parts: [{ type: 'text', text: 'one two three' }] },
    ])
    held.release('live')
    await runtime.wait(live.id)
    await runtime.prune(all)
    expect((await keptOf(runtime, thread)).first).toBeGreaterThan(before + 1)
    const texts = (await runtime.messages(thread)).at(-1)?.parts
    expect(texts?.[0]).toEqual({ type: 'text', text: 'one two three' })
  })

  it('a message that its task has not read is not passed, and is read after the prune', async () => {
    const heard: unknown[] = []
    const began = Promise.withResolvers<void>()
    const goOn = Promise.withResolvers<void>()
    const listener = async (ctx: AgentContext) => {
      began.resolve()
      await goOn.promise
      heard.push(await ctx.receive())
    }
    const runtime = await world().open({ agents: { echo, listener } })
    const task = await runtime.spawn({ thread, agent: 'listener', prompt: 'go' })
    await began.promise
    await runtime.send(task.id, { content: 'hello' })
    await answered(runtime, thread, 'beside')
    await runtime.prune(all)
    const { first } = await keptOf(runtime, thread)
    expect(first).toBe(1)
    goOn.resolve()
    await runtime.wait(task.id)
    expect(heard).toMatchObject([{ payload: { content: 'hello' } }])
  })

  it('a result that nobody took is not passed, nor is its thread dropped, until it is collected', async () => {
    const here = world()
    const runtime = await here.open({ agents: { echo } })
    await answered(runtime, thread, 'before')
    const { head: before } = await runtime.thread(thread)
    const task = await runtime.spawn({ thread, agent: 'echo', prompt: 'result' })
    await runtime.wait(task.id)
    await answered(runtime, thread, 'after')
    await here.clock.advance(10_000)
    expect(await runtime.prune({ eventsMs: 1, eventsPerThread: 1, threadsMs: 1 })).toEqual({
      ...nothing,
      events: before,
    })
    expect((await keptOf(runtime, thread)).first).toBe(before + 1)
    expect((await runtime.results(thread)).results).toMatchObject([{ task: task.id }])
    await runtime.collect(thread, [task.id])
    await runtime.prune(all)
    expect((await keptOf(runtime, thread)).first).toBeGreaterThan(before + 1)
    expect(await runtime.prune({ threadsMs: 1 })).toMatchObject({ threads: 1, tasks: 3 })
  })

  it('a thread in which nothing has happened for long goes as a whole, and its numbers go on', async () => {
    const here = world()
    const runtime = await here.open({ agents: { echo } })
    const id = await answered(runtime, thread, 'old')
    const { head } = await runtime.thread(thread)
    await here.clock.advance(10_000)
    const kept = await answered(runtime, 'new', 'new')
    const watcher = runtime.subscribe({ thread, after: head })
    const watching = watcher.next()
    expect(await runtime.prune({ threadsMs: 10_001 })).toEqual(nothing)
    expect(await runtime.prune({ threadsMs: 9_999 })).toEqual({ threads: 1, events: head, tasks: 1 })
    expect(await runtime.thread(thread)).toMatchObject({ head, first: head + 1, messages: [], tasks: [] })
    expect(await watching).toEqual({ done: true, value: undefined })
    expect(await runtime.get(id)).toBeUndefined()
    expect((await runtime.threads()).threads.map((each) => each.thread)).toEqual(['new'])
    expect(await runtime.get(kept)).toMatchObject({ status: 'completed' })
    const next = await answered(runtime, thread, 'again')
    expect((await keptOf(runtime, thread)).first).toBe(head + 1)
    expect(await runtime.get(next)).toMatchObject({ status: 'completed' })
  })

  it('a thread of many tasks is dropped in small commits', async () => {
    const here = world()
    const runtime = await here.open({ agents: { echo } })
    for (let n = 0; n < 130; n += 10) {
      const spawned = await Promise.all(
        Array.from({ length: 10 }, () => runtime.spawn({ thread, agent: 'echo', prompt: 'x' })),
      )
      for (const { id } of spawned) await runtime.wait(id)
      await runtime.collect(
        thread,
        spawned.map(({ id }) => id),
      )
    }
    await answered(runtime, thread, 'last')
    await here.clock.advance(10_000)
    const before = here.committed.length
    expect(await runtime.prune({ threadsMs: 1 })).toMatchObject({ threads: 1, tasks: 131 })
    const steps = here.committed.slice(before).filter(({ trim }) => trim === undefined)
    expect(steps.map(({ eraseTasks, erase }) => eraseTasks ?? erase)).toEqual([100, 100, true])
    expect(await runtime.thread(thread)).toMatchObject({ messages: [], tasks: [] })
  })

  it('a thread that lives is not dropped, however long its task says nothing', async () => {
    const here = world()
    const held = heldAgent()
    const runtime = await here.open({ agents: { echo, held } })
    await answered(runtime, thread, 'before')
    const { head } = await runtime.thread(thread)
    const { id } = await runtime.run({ thread, agent: 'held', prompt: 'quiet' })
    await held.started('quiet')
    await here.clock.advance(10_000)
    expect(await runtime.prune({ threadsMs: 1 })).toEqual(nothing)
    expect(await runtime.prune({ threadsMs: 1, eventsMs: 1 })).toEqual({ ...nothing, events: head })
    held.release('quiet')
    expect(await runtime.wait(id)).toMatchObject({ status: 'completed' })
  })

  it('a thread in which something happens while it is looked at is not dropped', async () => {
    const here = world()
    const runtime = await here.open({ agents: { echo } })
    await answered(runtime, thread, 'old')
    await here.clock.advance(10_000)
    const inner = here.store.threads
    Object.assign(here.store, {
      threads: async (...given: Parameters<typeof inner>) => {
        const page = await inner(...given)
        await answered(runtime, thread, 'new')
        return page
      },
    })
    expect(await runtime.prune({ threadsMs: 1 })).toEqual(nothing)
    expect((await runtime.messages(thread)).length).toBe(4)
    expect((await keptOf(runtime, thread)).first).toBe(1)
  })

  it('an open question is not passed, and is answered after the prune', async () => {
    const asked = Promise.withResolvers<void>()
    const curious = async (ctx: AgentContext) => {
      const answer = ctx.ask({ text: 'Go on?' })
      asked.resolve()
      return (await answer).answer
    }
    const here = world()
    const runtime = await here.open({ agents: { echo, curious } })
    const { id } = await runtime.spawn({ thread, agent: 'curious', prompt: 'go' })
    await asked.promise
    await answered(runtime, thread, 'beside')
    await here.clock.advance(10_000)
    expect(await runtime.prune({ eventsMs: 1, eventsPerThread: 1, threadsMs: 1 })).toEqual(nothing)
    const [question] = (await runtime.thread(thread)).questions
    await runtime.answer(question?.id ?? '', 'yes')
    expect(await runtime.wait(id)).toMatchObject({ status: 'completed', result: 'yes' })
  })

  it('a dry run counts and removes nothing', async () => {
    const here = world()
    const runtime = await here.open({ agents: { echo } })
    await answered(runtime, 'a', 'one')
    await answered(runtime, 'b', 'one')
    const { head } = await runtime.thread('a')
    await here.clock.advance(10_000)
    await answered(runtime, 'b', 'two')
    const committed = here.committed.length
    const counts = await runtime.prune({ eventsMs: 5_000, threadsMs: 5_000, dryRun: true })
    expect(counts).toEqual({ threads: 1, events: head * 2, tasks: 1 })
    expect(here.committed.length).toBe(committed)
    expect(await runtime.prune({ eventsMs: 5_000, threadsMs: 5_000 })).toEqual(counts)
  })

  it('a prune reaches the threads of its principal alone', async () => {
    const here = world()
    const runtime = await here.open({ agents: { echo } })
    const other = runtime.as('other')
    await answered(runtime, thread, 'mine')
    await answered(other, thread, 'theirs')
    const before = await other.thread(thread)
    await here.clock.advance(10_000)
    expect(await runtime.prune({ threadsMs: 1, eventsMs: 1 })).toMatchObject({ threads: 1, tasks: 1 })
    expect(await other.thread(thread)).toEqual(before)
    expect((await other.threads()).threads.length).toBe(1)
  })

  it('a prune that names nothing, or something that cannot be, is refused', async () => {
    const runtime = await world().open()
    for (const options of [{}, { dryRun: true }, { eventsMs: 0 }, { eventsPerThread: 0.5 }, { threadsMs: -1 }]) {
      await expect(runtime.prune(options)).rejects.toMatchObject({ code: 'invalid_request' })
    }
    const foreign = runtime.prune({ eventsMs: 1, cursor: 'no cursor' })
    await expect(foreign).rejects.toMatchObject({ code: 'invalid_request' })
  })

  it('a prune is refused while the node closes, and while the store is down', async () => {
    const here = world()
    const runtime = await here.open({ agents: { echo } })
    await answered(runtime, thread, 'a')
    here.store.down()
    await expect(runtime.prune(all)).rejects.toMatchObject({ code: 'store_unavailable' })
    here.store.up()
    await here.clock.advance(60_000)
    const closing = runtime.close()
    await expect(runtime.prune(all)).rejects.toMatchObject({ code: 'draining' })
    await closing
  })
})
