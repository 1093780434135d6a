import { expect, it } from 'vitest'
import { type Event, echoAgent, type Runtime, scriptAgent } from '../../src/index.ts'
import { inQuietTime } from './quiet-time.ts'
import { eventsOf, eventsUntil, onEachStore } from './world.ts'

const agents = { script: scriptAgent({ allowEffects: true }), echo: echoAgent() }

/** What a task emitted, as pairs of type and data. */
function emits(events: readonly Event[]): unknown[] {
  return events.filter(({ type }) => !/^(task|message|inbox)\./.test(type)).map(({ type, data }) => [type, data])
}

function isCustom(name: string) {
  return (event: Event) => event.type === 'custom' && event.data.name === name
}

async function ended(runtime: Runtime, script: unknown): Promise<{ events: Event[]; task: object }> {
  const { id } = await runtime.run({ thread: 't', agent: 'script', input: { script } })
  const events = await eventsOf(runtime, 't', id)
  return { events, task: (await runtime.get(id)) ?? {} }
}

onEachStore(['memory', 'sqlite'], (_kind, world) => {
  it('a script says, thinks, reports and emits, and completes with all it said', async () => {
    const runtime = await world().open({ agents })
    const { events, task } = await ended(runtime, [
      { say: 'one ' },
      { think: 'hm' },
      { progress: 0.5 },
      { emit: 'plain' },
      { emit: 'loaded', payload: ['anything'] },
      { emit: 'counted', payload: { a: 1 }, times: 2 },
      { say: 'two' },
    ])
    expect(emits(events)).toEqual([
      ['text.delta', { text: 'one ' }],
      ['thinking', { text: 'hm' }],
      ['progress', { value: 0.5 }],
      ['custom', { name: 'plain' }],
      ['custom', { name: 'loaded', payload: ['anything'] }],
      ['custom', { name: 'counted', payload: { a: 1, n: 0 } }],
      ['custom', { name: 'counted', payload: { a: 1, n: 1 } }],
      ['text.delta', { text: 'two' }],
    ])
    expect(task).toMatchObject({ status: 'completed', result: { said: 'one two' } })
  })

  it('an op of a script and its events are one unit', async () => {
    const here = world()
    const script = [{ say: 'x' }, { emit: 'e', times: 2 }, { step: 'k' }, { progress: 1 }]
    await ended(await here.open({ agents }), script)
    const recorded = here.committed.filter(({ steps }) => steps).map(({ steps, events }) => [steps?.[0]?.key, events])
    const counts = recorded.map(([key, events]) => [key, events?.length])
    expect(counts).toEqual([
      ['op-0', 1],
      ['op-1', 2],
      ['op-2', 1],
      ['op-3', 1],
    ])
  })

  it('the last answer of a script is its result, and a return overrides it and ends it', async () => {
    const runtime = await world().open({ agents })
    const answered = await ended(runtime, [{ say: 'x' }, { answer: 1 }, { answer: { is: 2 } }])
    expect(answered.task).toMatchObject({ status: 'completed', result: { is: 2 } })
    const returned = await ended(runtime, [{ answer: 1 }, { return: null }, { say: 'never' }])
    expect(returned.task).toMatchObject({ status: 'completed', result: null })
    expect(emits(returned.events)).toEqual([['answer', { output: 1 }]])
    const empty = await ended(runtime, [])
    expect(empty.task).toMatchObject({ status: 'completed', result: { said: '' } })
  })

  it('a script that fails ends as agent_error with its text', async () => {
    const runtime = await world().open({ agents })
    const { task } = await ended(runtime, [{ say: 'x' }, { fail: 'no more' }, { say: 'never' }])
    expect(task).toMatchObject({ status: 'failed', error: { code: 'agent_error', message: 'no more' }, partial: true })
  })

  it('a tool of a script shows its call, waits, and shows its result', async () => {
    const here = world()
    const runtime = await here.open({ agents })
    const script = [{ tool: 'search', input: { q: 1 }, output: [2], ms: 30 }, { tool: 'search' }]
    const { id } = await runtime.run({ thread: 't', agent: 'script', input: { script } })
    const events = await inQuietTime(here, eventsOf(runtime, 't', id))
    expect(emits(events)).toEqual([
      ['tool.call', { id: `${id}:op-0/search`, name: 'search', input: { q: 1 } }],
      ['tool.result', { id: `${id}:op-0/search`, output: [2] }],
      ['tool.call', { id: `${id}:op-1/search`, name: 'search', input: {} }],
      ['tool.result', { id: `${id}:op-1/search` }],
    ])
    const [call, result] = events.filter(({ type }) => type.startsWith('tool.'))
    expect((result?.at ?? 0) - (call?.at ?? 0)).toBe(30)
  })

  it('a script sleeps, and emits at a pace', async () => {
    const here = world()
    const runtime = await here.open({ agents })
    const script = [{ sleepMs: 1_000 }, { emit: 'tick', times: 3, everyMs: 100 }]
    const { id } = await runtime.run({ thread: 't', agent: 'script', input: { script } })
    const events = await inQuietTime(here, eventsOf(runtime, 't', id))
    const [first = 0, ...ticks] = events
      .filter(({ type }) => type === 'custom' || type === 'task.started')
      .map(({ at }) => at)
    expect(ticks.map((at) => at - first)).toEqual([1_000, 1_100, 1_200])
  })

  it('a script spawns children, waits for one however it ends, and lets the others go', async () => {
    const runtime = await world().open({ agents })
    const { events, task } = await ended(runtime, [
      { spawn: { script: [{ say: 'hi' }], name: 'good', wait: true } },
      { spawn: { script: [{ fail: 'bad luck' }], wait: true } },
      { spawn: { script: [{ hang: true }], detached: true } },
      { say: 'done' },
    ])
    const { tasks } = await runtime.list({ thread: 't', type: 'agent' })
    const [hanging, bad, good] = tasks
    expect(tasks).toHaveLength(3)
    expect(good).toMatchObject({ name: 'good', agent: 'script', parent: { agent: 'script' } })
    expect(hanging).toMatchObject({ status: 'running', detached: true })
    const error = { code: 'agent_error', message: 'bad luck' }
    expect(emits(events)).toEqual([
      ['custom', { name: 'child_ended', payload: { task: good?.id, status: 'completed', result: { said: 'hi' } } }],
      ['custom', { name: 'child_ended', payload: { task: bad?.id, status: 'failed', error } }],
      ['text.delta', { text: 'done' }],
    ])
    expect(task).toMatchObject({ status: 'completed' })
    expect(await runtime.cancelAll('t')).toBe(1)
  })

  it('a script goes on after a child whose result is larger than an event', async () => {
    const runtime = await world().open({ agents })
    const result = 'r'.repeat(300_000)
    const { events, task } = await ended(runtime, [
      { spawn: { script: [{ return: result }], wait: true } },
      { say: 'went on' },
    ])
    const [child] = (await runtime.list({ thread: 't', type: 'agent' })).tasks
    expect(emits(events)).toEqual([
      ['custom', { name: 'child_ended', payload: { task: child?.id, status: 'completed', resultOmitted: true } }],
      ['text.delta', { text: 'went on' }],
    ])
    expect(task).toMatchObject({ status: 'completed' })
    expect(child?.result).toBe(result)
  })

  it('a script says a prompt that is longer than an event, in pieces that tear no character', async () => {
    const runtime = await world().open({ agents })
    const prompt = `x${'\u{1f99c}'.repeat(140_000)}`
    const { id } = await runtime.run({ thread: 't', agent: 'script', prompt })
    expect(await runtime.wait(id)).toMatchObject({ status: 'completed', result: { said: prompt } })
    const said = (await eventsOf(runtime, 't', id)).filter(({ type }) => type === 'text.delta')
    const pieces = said.map(({ data }) => (data as { text: string }).text)
    expect(pieces.length).toBeGreaterThan(1)
    expect([pieces.join(''), pieces.every((piece) => piece.isWellFormed())]).toEqual([prompt, true])
  })

  it('a script reads its inbox, leaves the ends of its children alone, and gives up at a deadline', async () => {
    const here = world()
    const runtime = await here.open({ agents })
    const child = { spawn: { script: [], detached: true } }
    const script = [child, { emit: 'open' }, { receive: {} }, { receive: { timeoutMs: 50 } }]
    const { id } = await runtime.run({ thread: 't', agent: 'script', input: { script } })
    await eventsUntil(runtime, { thread: 't' }, isCustom('open'))
    await runtime.send(id, { content: { is: 'it' }, from: 'me' })
    const events = await inQuietTime(here, eventsOf(runtime, 't', id))
    expect(emits(events).slice(1)).toEqual([
      ['custom', { name: 'received', payload: { from: 'me', content: { is: 'it' } } }],
      ['custom', { name: 'receive_timeout' }],
    ])
    expect((await runtime.results('t')).results).toHaveLength(1)
  })

  it('a hanging script ends when it is cancelled, a hard one only by force', async () => {
    const here = world()
    const runtime = await here.open({ agents, graceMs: 300 })
    const soft = await runtime.spawn({ thread: 't', agent: 'script', input: { script: [{ hang: true }] } })
    const hard = await runtime.spawn({ thread: 't', agent: 'script', input: { script: [{ hang: 'hard' }] } })
    expect(await runtime.cancelAll('t')).toBe(2)
    expect(await runtime.wait(soft.id)).toMatchObject({ status: 'cancelled' })
    await here.clock.advance(200)
    expect(await runtime.get(hard.id)).toMatchObject({ status: 'running' })
    await here.clock.advance(100)
    expect(await runtime.wait(hard.id)).toMatchObject({ status: 'cancelled' })
    const last = (await eventsOf(runtime, 't', hard.id)).at(-1)
    expect(last).toMatchObject({ type: 'task.cancelled', data: { forced: true } })
  })

  it('a sleeping script ends at once when it is cancelled', async () => {
    const runtime = await world().open({ agents })
    const { id } = await runtime.run({ thread: 't', agent: 'script', input: { script: [{ sleepMs: 10_000_000 }] } })
    expect(await runtime.cancel(id)).toBe(true)
    expect(await runtime.wait(id)).toMatchObject({ status: 'cancelled' })
  })

  it('blockMs blocks the event loop for so long', async () => {
    const runtime = await world().open({ agents })
    const startedAt = performance.now()
    await ended(runtime, [{ blockMs: 50 }])
    expect(performance.now() - startedAt).toBeGreaterThanOrEqual(49)
  })

  it('a script that is given words says them and completes', async () => {
    const runtime = await world().open({ agents })
    const prompted = await runtime.run({ thread: 't', agent: 'script', prompt: 'hello' })
    expect(await runtime.wait(prompted.id)).toMatchObject({ status: 'completed', result: { said: 'hello' } })
    const parts = [
      { type: 'text', text: 'two ' },
      { type: 'file', mediaType: 'text/plain', url: 'data:,x' },
      { type: 'text', text: 'parts' },
    ] as const
    const parted = await runtime.run({ thread: 't', agent: 'script', parts })
    expect(await runtime.wait(parted.id)).toMatchObject({ status: 'completed', result: { said: 'two parts' } })
    expect((await runtime.messages('t')).at(-1)?.parts).toEqual([{ type: 'text', text: 'two parts' }])
  })

  it('a woken script names the tasks whose results woke it', async () => {
    const runtime = await world().open({ agents })
    const script = [{ spawn: { script: [{ receive: {} }], name: 'late', detached: true } }]
    const run = await runtime.run({ thread: 't', agent: 'script', input: { script }, onResult: 'wake' })
    await runtime.wait(run.id)
    const [late] = (await runtime.list({ thread: 't', name: 'late' })).tasks
    const waking = eventsUntil(runtime, { thread: 't' }, isCustom('woken'))
    await runtime.send(late?.id ?? '', { content: 'go' })
    expect((await waking).at(-1)?.data).toEqual({ name: 'woken', payload: { tasks: [late?.id] } })
    const woken = (await waking).at(-1)?.task ?? ''
    expect(await runtime.wait(woken)).toMatchObject({ status: 'completed', type: 'run', agent: 'script' })
  })

  it('echo says what it was given back and returns it', async () => {
    const runtime = await world().open({ agents })
    const prompted = await runtime.run({ thread: 't', agent: 'echo', prompt: 'hello' })
    const given = await runtime.run({ thread: 't', agent: 'echo', input: { a: [1] } })
    const empty = await runtime.spawn({ thread: 't', agent: 'echo' })
    expect(await runtime.wait(prompted.id)).toMatchObject({ status: 'completed', result: 'hello' })
    expect(await runtime.wait(given.id)).toMatchObject({ status: 'completed', result: { a: [1] } })
    expect((await runtime.wait(empty.id)) ?? {}).not.toHaveProperty('result')
    const said = (await runtime.messages('t')).filter(({ role }) => role === 'assistant').map(({ parts }) => parts)
    expect(said).toEqual([[{ type: 'text', text: 'hello' }], [{ type: 'text', text: '{"a":[1]}' }]])
  })
})
