import { expect, it } from 'vitest'
import type { AgentContext, Event } from '../../src/index.ts'
import { forever, untilStopped } from './bodies.ts'
import { unitWith } from './unit-with.ts'
import { eventsOf, eventsUntil, gate, logOf, onEachStore } from './world.ts'

/** Says something, leaves a tool call open and a child at work, and waits. */
async function midway(ctx: AgentContext): Promise<void> {
  await ctx.think('hm')
  await ctx.say('so ')
  await ctx.say('far')
  void ctx.tool('search', { q: 'x' }, forever)
  await ctx.spawn({ run: untilStopped })
  await untilStopped(ctx)
}

const agents = { midway, untilStopped, saying: (ctx: AgentContext) => ctx.say('done') }

function isSpawn(event: Event): boolean {
  return event.type === 'task.started' && event.task === 'bg_1'
}

onEachStore(['memory', 'sqlite'], (_kind, world) => {
  it('CANC-11 a run cancelled midway keeps its partial output as an assistant message', async () => {
    const runtime = await world().open({ agents })
    const run = await runtime.run({ thread: 't', agent: 'midway', prompt: 'go' })
    await eventsUntil(runtime, { thread: 't' }, isSpawn)
    expect(await runtime.cancel(run.id)).toBe(true)
    await runtime.wait(run.id)
    const [user, assistant, ...others] = await runtime.messages('t')
    expect(others).toEqual([])
    expect(user).toMatchObject({ role: 'user', task: run.id, parts: [{ type: 'text', text: 'go' }] })
    expect(assistant).toMatchObject({ role: 'assistant', task: run.id, finish: 'cancelled' })
    expect(assistant?.parts).toEqual([
      { type: 'reasoning', text: 'hm' },
      { type: 'text', text: 'so far' },
      { type: 'tool', id: expect.any(String), name: 'search', input: { q: 'x' }, error: expect.any(String) },
    ])
  })

  it('CANC-12 its record is terminal, partial, and its error text says it was cancelled', async () => {
    const runtime = await world().open({ agents })
    const run = await runtime.run({ thread: 't', agent: 'midway', prompt: 'go' })
    await eventsUntil(runtime, { thread: 't' }, isSpawn)
    await runtime.cancel(run.id)
    expect(await runtime.wait(run.id)).toMatchObject({
      status: 'cancelled',
      partial: true,
      error: { code: 'cancelled', message: expect.stringContaining('cancelled') },
      completedAt: expect.any(Number),
    })
  })

  it('CANC-13 exactly one terminal event reaches subscribers, and it says the run was cancelled', async () => {
    const runtime = await world().open({ agents })
    const run = await runtime.run({ thread: 't', agent: 'midway', prompt: 'go' })
    const watching = [eventsOf(runtime, 't', run.id), eventsOf(runtime, 't', run.id)]
    await eventsUntil(runtime, { thread: 't' }, isSpawn)
    await runtime.cancel(run.id)
    const [live, other] = await Promise.all(watching)
    expect(other).toEqual(live)
    expect(live?.at(-1)).toMatchObject({
      type: 'task.cancelled',
      data: { error: { code: 'cancelled', message: expect.stringContaining('cancelled') }, partial: true },
    })
    expect(live?.filter(({ type }) => /^task\.(completed|failed|cancelled)$/.test(type))).toHaveLength(1)
    expect(await eventsOf(runtime, 't', run.id)).toEqual(live)
    expect(await runtime.subscribe({ thread: 't', task: run.id, after: live?.at(-1)?.seq ?? 0 }).next()).toMatchObject({
      done: true,
    })
  })

  it('the end of a cancelled run is one unit: open calls, message, terminal event, then the cancel of its child', async () => {
    const here = world()
    const runtime = await here.open({ agents })
    const run = await runtime.run({ thread: 't', agent: 'midway', prompt: 'go' })
    await eventsUntil(runtime, { thread: 't' }, isSpawn)
    await runtime.cancel(run.id)
    await runtime.wait('bg_1')
    expect(unitWith(here.committed, run.id, 'task.cancelling')).toEqual(['bg_0 task.cancelling'])
    expect(unitWith(here.committed, run.id, 'task.cancelled')).toEqual([
      'bg_0 tool.result',
      'bg_0 message.created',
      'bg_0 task.cancelled',
      'bg_1 task.cancelling',
    ])
    expect(unitWith(here.committed, 'bg_1', 'task.cancelled')).toEqual(['bg_1 task.cancelled'])
  })

  it('a call that the cancel cuts off is closed in the unit of the end, not by the tool that was cut off', async () => {
    const calling = (ctx: AgentContext) => ctx.tool('search', {}, () => ctx.sleep(3_600_000))
    const here = world()
    const runtime = await here.open({ agents: { calling } })
    const run = await runtime.run({ thread: 't', agent: 'calling', prompt: 'go' })
    await eventsUntil(runtime, { thread: 't' }, ({ type }) => type === 'tool.call')
    await runtime.cancel(run.id)
    await runtime.wait(run.id)
    const end = ['bg_0 tool.result', 'bg_0 message.created', 'bg_0 task.cancelled']
    expect(unitWith(here.committed, run.id, 'task.cancelled')).toEqual(end)
  })

  it('a tool that rejects with nothing has failed at once, whatever becomes of its task', async () => {
    const failing = (ctx: AgentContext) => ctx.tool('search', {}, () => Promise.reject()).catch(() => 'went on')
    const here = world()
    const runtime = await here.open({ agents: { failing } })
    const run = await runtime.run({ thread: 't', agent: 'failing', prompt: 'go' })
    expect(await runtime.wait(run.id)).toMatchObject({ status: 'completed', result: 'went on' })
    expect(unitWith(here.committed, run.id, 'tool.result')).not.toContain('bg_0 task.completed')
  })

  it('a cancel between the start and the first output leaves both messages and no error', async () => {
    const runtime = await world().open({ agents })
    const run = await runtime.run({ thread: 't', agent: 'untilStopped', prompt: 'go' })
    expect(run.status).toBe('running')
    expect(await runtime.cancel(run.id)).toBe(true)
    const ended = await runtime.wait(run.id)
    expect((await logOf(runtime, 't')).map(({ type }) => type)).toEqual([
      'task.accepted',
      'task.started',
      'message.created',
      'task.cancelling',
      'message.created',
      'task.cancelled',
    ])
    expect(await runtime.messages('t')).toMatchObject([
      { role: 'user' },
      { role: 'assistant', parts: [], finish: 'cancelled' },
    ])
    expect(ended).not.toHaveProperty('partial')
  })

  it('a run cancelled between accept and start is never started, yet its user message and its ending are there', async () => {
    const here = world()
    const runtime = await here.open({ agents, concurrency: 1 })
    const blocker = await runtime.spawn({ thread: 'u', run: untilStopped })
    const run = await runtime.run({ thread: 't', agent: 'saying', prompt: 'go' })
    expect(run).toMatchObject({ status: 'pending', position: 0 })
    expect(await runtime.cancel(run.id, 'changed my mind')).toBe(true)
    const ended = await runtime.get(run.id)
    expect(ended).toMatchObject({
      status: 'cancelled',
      attempt: 0,
      epoch: 0,
      error: { code: 'cancelled', message: 'The task was cancelled by owner: changed my mind' },
    })
    expect(ended).not.toHaveProperty('startedAt')
    expect(unitWith(here.committed, run.id, 'task.cancelled')).toEqual([
      'bg_1 message.created',
      'bg_1 message.created',
      'bg_1 task.cancelled',
    ])
    expect(await runtime.messages('t')).toMatchObject([
      { role: 'user', parts: [{ type: 'text', text: 'go' }] },
      { role: 'assistant', parts: [], finish: 'cancelled' },
    ])
    await runtime.cancel(blocker.id)
    await runtime.wait(blocker.id)
    const next = await runtime.run({ thread: 't', agent: 'saying', prompt: 'again' })
    expect(await runtime.wait(next.id)).toMatchObject({ status: 'completed' })
    expect((await eventsOf(runtime, 't', run.id)).map(({ type }) => type)).toEqual([
      'task.accepted',
      'message.created',
      'message.created',
      'task.cancelled',
    ])
  })

  it('a cancelled run of the queue steps out of it, and those before and behind it run in their order', async () => {
    const runtime = await world().open({ agents: { ...agents, waiting: () => finish.opened } })
    const finish = gate()
    const active = await runtime.run({ thread: 't', agent: 'waiting', prompt: 'one' })
    const queued = [
      await runtime.run({ thread: 't', agent: 'saying', prompt: 'two' }),
      await runtime.run({ thread: 't', agent: 'saying', prompt: 'three' }),
      await runtime.run({ thread: 't', agent: 'saying', prompt: 'four' }),
    ]
    expect(queued.map(({ position }) => position)).toEqual([0, 1, 2])
    const [two, three, four] = queued
    expect(await runtime.cancel(three?.id ?? '')).toBe(true)
    expect(await runtime.get(three?.id ?? '')).toMatchObject({ status: 'cancelled' })
    expect(await runtime.get(four?.id ?? '')).toMatchObject({ status: 'pending', position: 1 })
    expect(await runtime.get(active.id)).toMatchObject({ status: 'running' })
    finish.open()
    await runtime.wait(four?.id ?? '')
    const starts = (await logOf(runtime, 't')).filter(({ type }) => type === 'task.started')
    expect(starts.map(({ task }) => task)).toEqual([active.id, two?.id, four?.id])
  })

  it('a cancel of the first of the queue that waits for a slot lets the next one start', async () => {
    const runtime = await world().open({ agents, concurrency: 1 })
    const blocker = await runtime.spawn({ thread: 'u', run: untilStopped })
    const first = await runtime.run({ thread: 't', agent: 'saying', prompt: 'one' })
    const second = await runtime.run({ thread: 't', agent: 'saying', prompt: 'two' })
    expect(await runtime.cancel(first.id)).toBe(true)
    await runtime.cancel(blocker.id)
    expect(await runtime.wait(second.id)).toMatchObject({ status: 'completed' })
  })

  it('a cancel of a thread is one unit: the active run, its tree, then the queue in order; none accepted after', async () => {
    const here = world()
    const runtime = await here.open({ agents: { ...agents, branching } })
    const run = await runtime.run({ thread: 't', agent: 'branching', prompt: 'one' })
    await eventsUntil(runtime, { thread: 't' }, (event) => event.type === 'custom')
    const beside = await runtime.spawn({ thread: 't', run: untilStopped })
    const queued = [
      await runtime.run({ thread: 't', agent: 'saying', prompt: 'two' }),
      await runtime.run({ thread: 't', agent: 'saying', prompt: 'three' }),
    ]
    const answer = await runtime.cancelThread('t', { reason: 'stop' })
    const after = await runtime.run({ thread: 't', agent: 'saying', prompt: 'four' })
    expect(answer).toEqual([run.id, 'bg_1', 'bg_2', 'bg_3', ...queued.map(({ id }) => id)])
    const ending = (id: string) => [`${id} message.created`, `${id} message.created`, `${id} task.cancelled`]
    expect(unitWith(here.committed, run.id, 'task.cancelling')).toEqual([
      'bg_0 task.cancelling',
      'bg_1 task.cancelling',
      'bg_2 task.cancelling',
      'bg_3 task.cancelling',
      ...queued.flatMap(({ id }) => ending(id)),
    ])
    for (const id of answer) expect(await runtime.wait(id)).toMatchObject({ status: 'cancelled' })
    expect(await runtime.wait(after.id)).toMatchObject({ status: 'completed' })
    expect(await runtime.get(beside.id)).toMatchObject({ status: 'running' })
  })

  it('a cancel of all takes each task before its children, also a run of the queue', async () => {
    const here = world()
    const runtime = await here.open({ agents })
    const active = await runtime.run({ thread: 't', agent: 'untilStopped', prompt: 'one' })
    const queued = await runtime.run({ thread: 't', agent: 'untilStopped', prompt: 'two' })
    const spawn = (parent: string) => runtime.spawn({ thread: 't', run: untilStopped, parent: { task: parent } })
    const ofQueued = await spawn(queued.id)
    const ofActive = await spawn(active.id)
    const inOrder = [active.id, ofActive.id, queued.id, ofQueued.id]
    expect(await runtime.cancelThread('t', { scope: 'all' })).toEqual(inOrder)
    expect(unitWith(here.committed, active.id, 'task.cancelling')).toEqual([
      `${active.id} task.cancelling`,
      `${ofActive.id} task.cancelling`,
      `${queued.id} message.created`,
      `${queued.id} message.created`,
      `${queued.id} task.cancelled`,
      `${ofQueued.id} task.cancelling`,
    ])
    for (const id of inOrder) expect(await runtime.wait(id)).toMatchObject({ status: 'cancelled' })
  })

  it('a cancel of an idle thread stores nothing and leaves the next run alone', async () => {
    const runtime = await world().open({ agents })
    expect(await runtime.cancelThread('t')).toEqual([])
    expect((await runtime.thread('t')).head).toBe(0)
    const run = await runtime.run({ thread: 't', agent: 'saying', prompt: 'go' })
    expect(await runtime.wait(run.id)).toMatchObject({ status: 'completed' })
  })
})

/** Has two children, the first of which has one of its own. */
async function branching(ctx: AgentContext): Promise<void> {
  const grandchild = gate()
  const withChild = async (inner: AgentContext) => {
    await grandchild.opened
    await inner.spawn({ run: untilStopped })
    await ctx.emit('branched')
    await untilStopped(inner)
  }
  await ctx.spawn({ run: withChild })
  await ctx.spawn({ run: untilStopped })
  grandchild.open()
  await untilStopped(ctx)
}
