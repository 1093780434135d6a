import { expect, it } from 'vitest'
import type { Unit } from '../../src/core/unit.ts'
import { type AgentContext, createInbox, type Event, type Task } from '../../src/index.ts'
import { forever, untilAttempt } from './attempts.ts'
import { inQuietTime } from './quiet-time.ts'
import { gate, logOf, onEachStore, type World } from './world.ts'

const thread = 't'
const mark = 'the store cannot take this'

function isMarked(unit: Unit): boolean {
  return JSON.stringify(unit).includes(mark)
}

/** From now on the store fails every batch that has a marked unit in it, as a database does that refuses a value. */
function refuseMarked(here: World): { readonly batches: number[] } {
  const batches: number[] = []
  here.store.plan((units) => {
    if (!units.some(isMarked)) return 'none'
    batches.push(units.length)
    throw new Error('value out of range')
  })
  return { batches }
}

/** From now on the store fails every batch with an end in it, until that is over. */
function refuseEnds(here: World): { isOver: boolean; readonly twice: Promise<void> } {
  const { promise: twice, resolve } = Promise.withResolvers<void>()
  const refused = { isOver: false, twice }
  let count = 0
  here.store.plan((units) => {
    if (refused.isOver || !units.some(({ operation }) => operation === 'end')) return 'none'
    if (++count === 2) resolve()
    throw new Error('value out of range')
  })
  return refused
}

/** The terminal events of a log, by task. */
function endings(log: readonly Event[]): Map<string, string[]> {
  const ends = new Map<string, string[]>()
  for (const { task = '', type } of log) {
    if (/^task\.(completed|failed|cancelled)$/.test(type)) ends.set(task, [...(ends.get(task) ?? []), type])
  }
  return ends
}

onEachStore(['memory', 'sqlite'], (_kind, world) => {
  it('a batch that the store fails is taken apart until the unit at fault stands alone; its task fails, all others commit', async () => {
    const here = world()
    const inbox = createInbox()
    const runtime = await here.open({ inbox })
    const goOn = gate()
    const tasks: Task[] = []
    for (let n = 0; n < 20; n++) {
      const run = async (ctx: AgentContext) => {
        await goOn.opened
        await ctx.emit('before', n)
        await ctx.emit(n === 13 ? mark : 'after', n)
        return n
      }
      tasks.push(await runtime.spawn({ thread: `${thread}${n % 4}`, run }))
    }
    await here.quiet()
    const { batches } = refuseMarked(here)
    goOn.open()
    for (const [n, { id }] of tasks.entries()) {
      if (n !== 13) expect(await runtime.wait(id)).toMatchObject({ status: 'completed', result: n })
    }
    expect(await runtime.wait(tasks[13]?.id ?? '')).toMatchObject({
      status: 'failed',
      error: { code: 'agent_error', message: expect.stringContaining('value out of range') },
    })
    expect(batches[0]).toBeGreaterThan(1)
    expect(batches.at(-1)).toBe(1)
    const logs = await Promise.all([0, 1, 2, 3].map((n) => logOf(runtime, `${thread}${n}`)))
    for (const log of logs) {
      expect(log.map((event) => event.seq)).toEqual(log.map((_event, i) => i + 1))
      expect([...endings(log).values()].every((ends) => ends.length === 1)).toBe(true)
      expect(JSON.stringify(log)).not.toContain(mark)
    }
    expect(inbox.drain().filter((item) => item.kind === 'custom' && item.eventType === 'after')).toHaveLength(19)
    expect(await runtime.isReady()).toBe(true)
  })

  it('a step, a result or a saying that cannot be stored fails its own task, which still ends once', async () => {
    const here = world()
    const runtime = await here.open({ agents: { talker: (ctx: AgentContext) => ctx.say(mark) } })
    refuseMarked(here)
    const bodies = [
      (ctx: AgentContext) => ctx.step('value', () => mark),
      (ctx: AgentContext) => ctx.step(mark, () => 1),
      () => mark,
      () => {
        throw new Error(mark)
      },
      (ctx: AgentContext) => ctx.answer(mark),
      (ctx: AgentContext) => ctx.spawn({ run: () => 1, description: mark }),
      () => 'fine',
    ]
    const tasks = await Promise.all(bodies.map((run) => runtime.spawn({ thread, run })))
    const run = await runtime.run({ thread, agent: 'talker', prompt: 'talk' })
    for (const { id } of [...tasks.slice(0, -1), run]) {
      expect(await runtime.wait(id)).toMatchObject({ status: 'failed', error: { code: 'agent_error' } })
    }
    expect(await runtime.wait(tasks.at(-1)?.id ?? '')).toMatchObject({ status: 'completed', result: 'fine' })
    const ends = endings(await logOf(runtime, thread))
    expect(ends.size).toBe(8)
    expect([...ends.values()].every((types) => types.length === 1)).toBe(true)
    const next = await runtime.run({ thread, agent: 'talker', prompt: 'again' })
    expect(await runtime.wait(next.id)).toMatchObject({ status: 'failed' })
  })

  it('a task whose end is refused whatever it says ends as soon as one can be stored, and the queue behind it goes on', async () => {
    const here = world()
    const runtime = await here.open({ agents: { brief: () => 'done' } })
    const refused = refuseEnds(here)
    const first = await runtime.run({ thread, agent: 'brief', prompt: 'first' })
    const second = await runtime.run({ thread, agent: 'brief', prompt: 'second' })
    await refused.twice
    await here.clock.advance(60_000)
    expect(await runtime.get(first.id)).toMatchObject({ status: 'running' })
    refused.isOver = true
    await here.clock.advance(5_000)
    expect(await runtime.wait(first.id)).toMatchObject({ status: 'failed', error: { code: 'agent_error' }, attempt: 1 })
    expect(await runtime.wait(second.id)).toMatchObject({ status: 'completed' })
    expect([...endings(await logOf(runtime, thread)).values()]).toEqual([['task.failed'], ['task.completed']])
  })

  it('a runtime closes though ends are refused, and the next one ends those tasks', async () => {
    const here = world()
    let count = 0
    const agents = { brief: () => (count += 1) }
    const runtime = await here.open({ agents })
    const refused = refuseEnds(here)
    const run = await runtime.run({ thread, agent: 'brief', prompt: 'first' })
    const closure = await runtime.spawn({ thread: 'other', run: () => 'done' })
    await refused.twice
    await here.clock.advance(1_000)
    await runtime.close({ drainMs: 0 })
    refused.isOver = true
    const next = await here.open({ agents })
    expect(await next.wait(run.id)).toMatchObject({ status: 'completed', result: 2, attempt: 2 })
    expect(await next.wait(closure.id)).toMatchObject({ status: 'failed', error: { code: 'orphaned' } })
  })

  it('a runtime closes though the end of a function that it closes is refused, and the next one ends that', async () => {
    const here = world()
    const runtime = await here.open()
    const { id } = await runtime.spawn({ thread, run: forever })
    await untilAttempt(runtime, 1)
    const refused = refuseEnds(here)
    await inQuietTime(here, runtime.close({ drainMs: 0 }), 100)
    refused.isOver = true
    const next = await here.open()
    expect(await next.wait(id)).toMatchObject({ status: 'failed', error: { code: 'orphaned' } })
  })

  it('a runtime closes though a task cannot be handed over, and the next one goes on with all of them', async () => {
    const here = world()
    const agents = { worker: (ctx: AgentContext) => (ctx.attempt === 1 ? forever() : 'done') }
    const runtime = await here.open({ agents })
    const runs = [thread, 'other'].map((name) => runtime.run({ thread: name, agent: 'worker', prompt: 'go' }))
    const ids = (await Promise.all(runs)).map(({ id }) => id)
    await here.quiet()
    here.store.plan((units) => {
      if (units.some((unit) => unit.operation === 'release' && unit.fence?.task === ids[0])) throw new Error('bad row')
      return 'none'
    })
    await inQuietTime(here, runtime.close({ drainMs: 0 }), 100)
    expect(here.clock.pendingTimerCount).toBe(0)
    const next = await here.open({ agents })
    for (const id of ids) expect(await next.wait(id)).toMatchObject({ status: 'completed', attempt: 2 })
  })

  it('a run whose start cannot be stored fails, and the queue behind it goes on', async () => {
    const here = world()
    const finish = gate()
    const agents = { brief: () => finish.opened }
    const runtime = await here.open({ agents })
    const first = await runtime.run({ thread, agent: 'brief', prompt: 'first' })
    const second = await runtime.run({ thread, agent: 'brief', prompt: mark })
    const third = await runtime.run({ thread, agent: 'brief', prompt: 'third' })
    here.store.plan((units) => {
      if (units.some((unit) => unit.operation === 'start' && isMarked(unit))) throw new Error('value out of range')
      return 'none'
    })
    finish.open()
    expect(await runtime.wait(first.id)).toMatchObject({ status: 'completed' })
    expect(await runtime.wait(second.id)).toMatchObject({
      status: 'failed',
      attempt: 0,
      error: { code: 'agent_error', message: expect.stringContaining('value out of range') },
    })
    expect(await runtime.wait(third.id)).toMatchObject({ status: 'completed' })
    expect(await runtime.isReady()).toBe(true)
  })

  it('an intent that cannot be stored is refused to whoever asked, and those beside it are done', async () => {
    const here = world()
    const runtime = await here.open()
    const isRead = gate()
    const reader = await runtime.spawn({
      thread,
      run: async (ctx) => {
        const item = await ctx.receive()
        isRead.open()
        return item
      },
    })
    await here.quiet()
    refuseMarked(here)
    const held = here.store.hold()
    const answers = Promise.allSettled([
      runtime.spawn({ thread, run: () => 'one' }),
      runtime.spawn({ thread, run: () => 'never', input: mark }),
      runtime.send(reader.id, { content: mark }),
      runtime.spawn({ thread, run: () => 'two' }),
      runtime.send(reader.id, { content: 'fine' }),
    ])
    await held.reached
    held.open()
    const [one, never, lost, two, sent] = await answers
    expect([never.status, lost.status]).toEqual(['rejected', 'rejected'])
    expect(never).toMatchObject({ reason: { message: 'value out of range' } })
    expect(sent).toMatchObject({ value: { isSent: true } })
    await isRead.opened
    expect(await runtime.wait(reader.id)).toMatchObject({ result: { payload: { content: 'fine' } } })
    const ids: string[] = [reader.id]
    for (const spawned of [one, two]) {
      if (spawned.status === 'rejected') throw spawned.reason
      expect(await runtime.wait(spawned.value.id)).toMatchObject({ status: 'completed' })
      ids.unshift(spawned.value.id)
    }
    // Where several nodes take numbers, one that was refused is not tried again.
    expect((await runtime.list({ thread })).tasks.map((task) => task.id)).toEqual(ids)
  })

  it('texts that databases stumble over are kept as they are, and harm neither their task nor any other', async () => {
    const runtime = await world().open()
    const texts = ['NUL \u0000 here', 'lone \ud800 and \udfff', '\u2028 and \u2029', '\t\r\n\u001b[0m', '"\'; --', '']
    const run = async (ctx: AgentContext) => {
      for (const text of texts) {
        await ctx.emit(text, { [text]: text })
        await ctx.say(text)
        await ctx.tool(text || 'tool', text, () => text)
        await ctx.step(text || 'step', () => text)
      }
      const item = await ctx.receive()
      throw new Error(item?.kind === 'custom' ? String((item.payload as { content: string }).content) : '')
    }
    const plain = async (ctx: AgentContext) => {
      for (const text of texts) await ctx.emit('plain', text.length)
      return 'fine'
    }
    const whole = texts.join('')
    const strange = await runtime.spawn({ thread, run, description: whole, metadata: { [whole]: whole } })
    const beside = await runtime.spawn({ thread, run: plain })
    await runtime.send(strange.id, { from: whole, content: whole })
    expect(await runtime.wait(beside.id)).toMatchObject({ status: 'completed', result: 'fine' })
    expect(await runtime.wait(strange.id)).toMatchObject({
      status: 'failed',
      description: whole,
      metadata: { [whole]: whole },
      error: { code: 'agent_error', message: whole },
    })
    const log = await logOf(runtime, thread)
    const own = log.filter((event) => event.task === strange.id)
    expect(own.flatMap((event) => (event.type === 'custom' ? [event.data] : []))).toEqual(
      texts.map((text) => ({ name: text, payload: { [text]: text } })),
    )
    expect(own.flatMap((event) => (event.type === 'text.delta' ? [event.data.text] : []))).toEqual(texts)
    expect(own.flatMap((event) => (event.type === 'tool.result' ? [event.data.output] : []))).toEqual(texts)
    expect(own.find((event) => event.type === 'inbox.accepted')?.data).toMatchObject({ from: whole, content: whole })
    expect(log.map((event) => event.seq)).toEqual(log.map((_event, i) => i + 1))
  })
})
