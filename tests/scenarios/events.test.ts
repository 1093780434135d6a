import { expect, it } from 'vitest'
import type { AgentContext, Event, Runtime } from '../../src/index.ts'
import { heldAgent } from './held-agent.ts'
import { eventsOf, eventsUntil, gate, logOf, onEachStore } from './world.ts'

const thread = 't'

/** Says its prompt letter by letter, each in a commit of its own, so that two of them interleave in the log. */
async function spell(ctx: AgentContext, word: string): Promise<string> {
  for (const letter of word) await ctx.step('letter', () => ctx.say(letter))
  return word
}

async function twoWords(runtime: Runtime): Promise<[string, string]> {
  const tasks = await Promise.all(['hello', 'world'].map((prompt) => runtime.spawn({ thread, agent: 'spell', prompt })))
  const [first, second] = tasks.map((task) => task.id)
  return [first ?? '', second ?? '']
}

function textOf(events: readonly Event[]): string {
  return events.map((event) => (event.type === 'text.delta' ? event.data.text : '')).join('')
}

function seqs(events: readonly Event[]): number[] {
  return events.map((event) => event.seq)
}

onEachStore(['memory', 'sqlite'], (_kind, world) => {
  it('EVNT-01 a subscription to one task sees that task alone, and ends with its end', async () => {
    const runtime = await world().open({ agents: { spell } })
    const [first, second] = await twoWords(runtime)
    const [hello, world_] = await Promise.all([eventsOf(runtime, thread, first), eventsOf(runtime, thread, second)])
    expect([textOf(hello), textOf(world_)]).toEqual(['hello', 'world'])
    expect(new Set(hello.map((event) => event.task))).toEqual(new Set([first]))
    expect(hello.at(0)?.type).toBe('task.accepted')
    expect(hello.at(-1)?.type).toBe('task.completed')
  })

  it('EVNT-02 a subscription without a filter sees all events of its thread and stays open', async () => {
    const runtime = await world().open({ agents: { spell } })
    const all = runtime.subscribe({ thread })
    const early = all.next()
    await runtime.spawn({ thread: 'other', agent: 'spell', prompt: 'elsewhere' })
    const [first, second] = await twoWords(runtime)
    const seen: Event[] = []
    const { value } = await early
    if (value) seen.push(value)
    for (let endCount = 0; endCount < 2; ) {
      const { value: event } = await all.next()
      if (!event) throw new Error('The subscription stays open')
      seen.push(event)
      if (event.type === 'task.completed') endCount += 1
    }
    expect(new Set(seen.map((event) => event.task))).toEqual(new Set([first, second]))
    expect(seen).toEqual(await logOf(runtime, thread))
    const more = all.next()
    const { id } = await runtime.spawn({ thread, agent: 'spell', prompt: 'more' })
    expect((await more).value).toMatchObject({ seq: seen.length + 1, type: 'task.accepted', task: id })
    await all.return?.()
  })

  it('EVNT-03 the replay of past events obeys the same filter', async () => {
    const runtime = await world().open({ agents: { spell } })
    const [first, second] = await twoWords(runtime)
    const live = await eventsOf(runtime, thread, first)
    await runtime.wait(second)
    expect(await eventsOf(runtime, thread, first)).toEqual(live)
    const middle = live[3]?.seq ?? 0
    expect(await eventsUntil(runtime, { thread, task: first, after: middle }, () => false)).toEqual(live.slice(4))
    const others = (await logOf(runtime, thread)).filter((event) => event.task === second)
    expect(await eventsOf(runtime, thread, second)).toEqual(others)
  })

  it('EVNT-04 after every number comes the next, replayed or live, and numbers have no gap', async () => {
    const held = heldAgent()
    const runtime = await world().open({ agents: { spell, held } })
    await twoWords(runtime)
    const { id } = await runtime.run({ thread, agent: 'held', prompt: 'a' })
    await held.started('a')
    const { head } = await runtime.thread(thread)
    const readers = Array.from({ length: head + 1 }, (_each, after) =>
      eventsUntil(runtime, { thread, after }, (event) => event.task === id && event.type === 'task.completed'),
    )
    held.release('a', (ctx) => ctx.say('done'))
    const [all = [], ...later] = await Promise.all(readers)
    expect(seqs(all)).toEqual(all.map((_event, index) => index + 1))
    expect(later).toEqual(later.map((_events, index) => all.slice(index + 1)))
  })

  it('EVNT-05 what a task emits after its end adds nothing', async () => {
    const here = world()
    const late = gate()
    let said: Promise<unknown> = Promise.resolve()
    const runtime = await here.open({
      agents: {
        hasty: (ctx: AgentContext) => {
          said = late.opened.then(() => Promise.allSettled([ctx.say('late'), ctx.emit('late'), ctx.answer('late')]))
          return 'done'
        },
      },
    })
    const { id } = await runtime.run({ thread, agent: 'hasty', prompt: 'go' })
    await runtime.wait(id)
    const { head } = await runtime.thread(thread)
    late.open()
    await said
    await here.quiet()
    expect((await runtime.thread(thread)).head).toBe(head)
    expect((await logOf(runtime, thread)).at(-1)).toMatchObject({ task: id, type: 'task.completed' })
    expect(await runtime.get(id)).toMatchObject({ result: 'done' })
  })

  it('EVNT-06 what was seen survives a crash, and an offset never goes back', async () => {
    const here = world()
    const held = heldAgent()
    const agents = { spell, held }
    const runtime = await here.open({ agents })
    await twoWords(runtime)
    const { id } = await runtime.run({ thread, agent: 'held', prompt: 'a' })
    const seen = await eventsUntil(
      runtime,
      { thread },
      (event) => event.task === id && event.type === 'message.created',
    )
    await here.crash()
    const next = await here.open({ agents })
    const after = seen.length
    const resumed = eventsUntil(
      next,
      { thread, after },
      (event) => event.task === id && event.type === 'task.completed',
    )
    held.release('a')
    const rest = await resumed
    expect(rest[0]?.seq).toBe(after + 1)
    expect((await logOf(next, thread)).slice(0, after + rest.length)).toEqual([...seen, ...rest])
    expect((await next.thread(thread)).head).toBeGreaterThanOrEqual(after + rest.length)
  })

  it('an event is seen after its commit, never before', async () => {
    const here = world()
    const held = heldAgent()
    const runtime = await here.open({ agents: { held } })
    const { id } = await runtime.run({ thread, agent: 'held', prompt: 'a' })
    await held.started('a')
    const watching = runtime.subscribe({ thread, task: id, after: 3 })
    const seen: string[] = []
    const next = watching.next().then(({ value }) => seen.push(value?.type ?? 'end'))
    const commit = here.store.hold()
    held.release('a', (ctx) => ctx.say('text'))
    await commit.reached
    await here.quiet()
    expect(seen).toEqual([])
    commit.open()
    await next
    expect(seen).toEqual(['text.delta'])
  })

  it('an event whose commit was lost with the process is seen by nobody', async () => {
    const here = world()
    const held = heldAgent()
    const runtime = await here.open({ agents: { held } })
    await runtime.run({ thread, agent: 'held', prompt: 'a' })
    await held.started('a')
    const watching = runtime.subscribe({ thread, after: 3 })
    const seen: unknown[] = []
    void watching.next().then(({ value }) => seen.push(value))
    here.store.plan(() => 'crash_before')
    held.release('a', (ctx) => ctx.say('text'))
    await here.store.crashed
    await here.crash()
    const next = await here.open({ agents: { held } })
    await eventsUntil(next, { thread }, (event) => event.type === 'task.completed')
    expect(seen).toEqual([])
    expect((await logOf(next, thread)).map((event) => event.type)).toEqual([
      'task.accepted',
      'task.started',
      'message.created',
      'task.resumed',
      'text.delta',
      'message.created',
      'task.completed',
    ])
  })
})
