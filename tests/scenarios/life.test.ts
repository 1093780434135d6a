import { describe, expect, it } from 'vitest'
import { statuses } from '../../src/core/status.ts'
import { type AgentContext, cancelled, failed, isTerminal, type Task } from '../../src/index.ts'
import { forever, untilStopped } from './bodies.ts'
import { eventsOf, eventsUntil, gate, logOf, onEachStore } from './world.ts'

describe('the five statuses', () => {
  it('LIFE-01 pending and running are not terminal, completed, failed and cancelled are, and there are no others', () => {
    expect(statuses.map((status) => [status, isTerminal(status)])).toEqual([
      ['pending', false],
      ['running', false],
      ['completed', true],
      ['failed', true],
      ['cancelled', true],
    ])
  })
})

onEachStore(['memory', 'sqlite'], (_kind, world) => {
  it("LIFE-02 a task function's outcome decides its status", async () => {
    const runtime = await world().open()
    const outcomes = {
      returned: { run: () => 'done', status: 'completed' },
      resolved: { run: async () => undefined, status: 'completed' },
      threw: { run: () => Promise.reject(new Error('broken')), status: 'failed' },
      stated: { run: () => failed('no such page'), status: 'failed' },
      threwStated: { run: () => Promise.reject(failed('no such page')), status: 'failed' },
      gaveUp: { run: () => cancelled('nobody needs it'), status: 'cancelled' },
      threwGivingUp: { run: () => Promise.reject(cancelled()), status: 'cancelled' },
    }
    for (const [name, { run, status }] of Object.entries(outcomes)) {
      const task = await runtime.spawn({ thread: 't', name, run })
      expect([name, (await runtime.wait(task.id))?.status]).toEqual([name, status])
    }
  })

  it('LIFE-02 a task that ends itself as cancelled says so in its error and in its one terminal event', async () => {
    const runtime = await world().open({ agents: { quitter: () => cancelled('nobody needs it') } })
    const run = await runtime.run({ thread: 't', agent: 'quitter', prompt: 'go' })
    const events = await eventsOf(runtime, 't', run.id)
    expect(events.at(-1)).toMatchObject({
      type: 'task.cancelled',
      data: { error: { code: 'cancelled', message: 'cancelled: nobody needs it' } },
    })
    expect(events.map(({ type }) => type)).not.toContain('task.cancelling')
    expect((await runtime.messages('t')).at(-1)).toMatchObject({ role: 'assistant', parts: [], finish: 'cancelled' })
  })

  it('LIFE-03 a spawned task is listed at once under its thread, and running if a slot is free', async () => {
    const runtime = await world().open({ concurrency: 1 })
    const first = await runtime.spawn({ thread: 't', type: 'index', description: 'index the site', run: untilStopped })
    const listed = { id: first.id, type: 'index', description: 'index the site', status: 'running', attempt: 1 }
    expect(first).toMatchObject(listed)
    expect((await runtime.list({ thread: 't' })).tasks).toEqual([expect.objectContaining(listed)])
    expect((await logOf(runtime, 't')).map(({ type }) => type)).toEqual(['task.accepted', 'task.started'])
    expect((await runtime.list({ thread: 'other' })).tasks).toEqual([])

    const second = await runtime.spawn({ thread: 't', run: untilStopped })
    expect(second).toMatchObject({ status: 'pending', attempt: 0, epoch: 0 })
    expect((await runtime.list({ thread: 't' })).tasks.map(({ status }) => status)).toEqual(['pending', 'running'])
  })

  it('LIFE-04 a completed task has its result whole and the instants of its life', async () => {
    const here = world()
    const runtime = await here.open()
    const result = { list: [1, 'two', null, { deep: [[{ end: true }]] }], text: 'ü\u0000\ud83d\ude00', none: '' }
    const finish = gate()
    const task = await runtime.spawn({ thread: 't', run: () => finish.opened.then(() => result) })
    const startedAt = here.clock.now()
    await here.clock.advance(250)
    expect(await runtime.get(task.id)).not.toHaveProperty('completedAt')
    finish.open()
    const ended = await runtime.wait(task.id)
    expect(ended).toMatchObject({ status: 'completed', startedAt, completedAt: startedAt + 250, progress: 1 })
    expect(ended?.result).toEqual(result)
    expect((await runtime.list({ thread: 't' })).tasks[0]?.result).toEqual(result)
  })

  it('LIFE-05 a failed task keeps the text of its error', async () => {
    const here = world()
    const runtime = await here.open()
    const task = await runtime.spawn({ thread: 't', run: () => Promise.reject(new Error('the page is gone')) })
    const ended = await runtime.wait(task.id)
    expect(ended).toMatchObject({
      status: 'failed',
      error: { code: 'agent_error', message: 'the page is gone' },
      completedAt: here.clock.now(),
    })
    expect(ended).not.toHaveProperty('result')
  })

  it('LIFE-06 one task of a thread runs on while others complete and fail', async () => {
    const runtime = await world().open()
    const [goesOn, completes, fails] = await Promise.all([
      runtime.spawn({ thread: 't', run: untilStopped }),
      runtime.spawn({ thread: 't', run: () => 1 }),
      runtime.spawn({ thread: 't', run: () => Promise.reject(new Error('no')) }),
    ])
    expect((await runtime.wait(completes.id))?.status).toBe('completed')
    expect((await runtime.wait(fails.id))?.status).toBe('failed')
    expect(await runtime.get(goesOn.id)).toMatchObject({ status: 'running' })
  })

  it('LIFE-07 many tasks of different types run at the same time on one thread', async () => {
    const runtime = await world().open()
    const types = ['agent', 'shell', 'index', 'watch', 'build']
    const allAreThere = gate()
    let present = 0
    const run = async (): Promise<number> => {
      present += 1
      if (present === types.length * 4) allAreThere.open()
      await allAreThere.opened
      return present
    }
    const spawned = types.flatMap((type) => Array.from({ length: 4 }, () => runtime.spawn({ thread: 't', type, run })))
    const ended = await Promise.all(spawned.map(async (task) => runtime.wait((await task).id)))
    expect(ended.map((task) => task?.result)).toEqual(spawned.map(() => 20))
    for (const type of types) expect((await runtime.list({ thread: 't', type })).tasks).toHaveLength(4)
  })

  it('LIFE-08 an unknown id gives none and never throws', async () => {
    const runtime = await world().open()
    const ids = [
      'bg_0',
      'bg_999',
      '',
      '__proto__',
      'constructor',
      "'; DROP TABLE tasks; --",
      '\u0000',
      'x'.repeat(9999),
    ]
    for (const id of ids) {
      expect(await runtime.get(id)).toBeUndefined()
      expect(await runtime.wait(id)).toBeUndefined()
    }
    expect((await runtime.list({ thread: 'never-used' })).tasks).toEqual([])
    expect(await runtime.thread('never-used')).toMatchObject({ head: 0, first: 1, tasks: [], messages: [] })
  })

  it('LIFE-09 ids are bg_0, bg_1, bg_2 over all threads, and a refused spawn skips none', async () => {
    const runtime = await world().open()
    const spawn = async (thread: string, name: string): Promise<Task> =>
      runtime.spawn({ thread, name, run: untilStopped })
    expect((await spawn('a', 'one')).id).toBe('bg_0')
    expect((await spawn('b', 'one')).id).toBe('bg_1')
    await expect(spawn('b', 'one')).rejects.toMatchObject({ code: 'name_taken' })
    const many = await Promise.all(Array.from({ length: 200 }, (_, i) => spawn(`t${i % 7}`, `n${i}`)))
    const numbers = many.map(({ id }) => Number(/^bg_(\d+)$/.exec(id)?.[1])).sort((a, b) => a - b)
    expect(numbers).toEqual(Array.from({ length: 200 }, (_, i) => i + 2))
  })

  it('LIFE-10 the result is read from the store after every handle of the process is gone', async () => {
    const here = world()
    const first = await here.open()
    const task = await first.spawn({ thread: 't', run: () => ({ pages: 3 }) })
    const ended = await first.wait(task.id)
    await first.close()
    const second = await here.open()
    expect(await second.get(task.id)).toEqual(ended)
    expect((await second.list({ thread: 't' })).tasks).toEqual([ended])
    expect(ended).toMatchObject({ status: 'completed', result: { pages: 3 } })
  })

  it('LIFE-11 what a task emits never alters its result', async () => {
    const runtime = await world().open()
    const emitting = async (ctx: AgentContext): Promise<{ kept: true }> => {
      await ctx.emit('result', { kept: false })
      await ctx.say('not this')
      await ctx.answer({ nor: 'this' })
      await ctx.progress(0.5)
      return { kept: true }
    }
    const task = await runtime.spawn({ thread: 't', run: emitting })
    expect(await runtime.wait(task.id)).toMatchObject({ status: 'completed', result: { kept: true } })
    const answering = await runtime.spawn({ thread: 't', run: (ctx) => ctx.answer('the answer') })
    expect(await runtime.wait(answering.id)).toMatchObject({ status: 'completed', result: 'the answer' })
  })

  it('LIFE-12 hasRunning is true exactly while a task of the thread is live', async () => {
    const runtime = await world().open({ concurrency: 1 })
    expect(await runtime.hasRunning('t')).toBe(false)
    const running = await runtime.spawn({ thread: 't', run: untilStopped })
    const pending = await runtime.spawn({ thread: 'u', run: forever })
    expect([await runtime.hasRunning('t'), await runtime.hasRunning('u')]).toEqual([true, true])
    expect(await runtime.hasRunning('v')).toBe(false)
    await runtime.cancel(pending.id)
    expect([await runtime.hasRunning('t'), await runtime.hasRunning('u')]).toEqual([true, false])
    await runtime.cancel(running.id)
    await runtime.wait(running.id)
    expect(await runtime.hasRunning('t')).toBe(false)
  })

  it('LIFE-13 the three shapes work: a one-shot, a long one with progress, a service that runs until cancelled', async () => {
    const runtime = await world().open()
    const oneShot = await runtime.spawn({ thread: 'one', run: (_ctx, { n }: { n: number }) => n * 2, input: { n: 21 } })
    expect(await runtime.wait(oneShot.id)).toMatchObject({ status: 'completed', result: 42 })

    const long = await runtime.spawn({
      thread: 'long',
      run: async (ctx) => {
        for (const value of [0.25, 0.5, 0.75]) await ctx.progress(value, `at ${value}`)
      },
    })
    const reported = (await eventsOf(runtime, 'long', long.id)).flatMap((e) => (e.type === 'progress' ? e.data : []))
    expect(reported.map(({ value }) => value)).toEqual([0.25, 0.5, 0.75])
    expect(await runtime.get(long.id)).toMatchObject({ status: 'completed', progress: 1 })

    const service = await runtime.spawn({
      thread: 'service',
      run: async (ctx) => {
        await ctx.emit('ready', { port: 8080 })
        await untilStopped(ctx)
      },
    })
    const seen = await eventsUntil(runtime, { thread: 'service' }, (event) => event.type === 'custom')
    expect(seen.at(-1)?.data).toEqual({ name: 'ready', payload: { port: 8080 } })
    expect(await runtime.get(service.id)).toMatchObject({ status: 'running' })
    expect(await runtime.cancel(service.id)).toBe(true)
    expect(await runtime.wait(service.id)).toMatchObject({ status: 'cancelled' })
  })
})
