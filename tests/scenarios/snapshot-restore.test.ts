import { expect, it } from 'vitest'
import { foldTask } from '../../src/core/fold-task.ts'
import {
  type AgentContext,
  cancelled,
  createInbox,
  decodeTasks,
  encodeTasks,
  failed,
  type PersistedTask,
  persistTask,
  type Runtime,
  restoreTasks,
  snapshotTasks,
  type Task,
} from '../../src/index.ts'
import { forever, untilStopped } from './bodies.ts'
import { eventsOf, gate, logOf, onEachStore } from './world.ts'

const thread = 't'

/** A task as another program may have persisted it. */
function persisted(id: string, fields: Partial<PersistedTask> = {}): PersistedTask {
  const task = { id, seq: 3, type: 'agent', description: `task ${id}`, status: 'completed', attempt: 1, epoch: 1 }
  return persistTask({ ...task, createdAt: 1000, ...fields } as PersistedTask, fields.thread ?? thread)
}

function byId(...tasks: readonly PersistedTask[]): Record<string, PersistedTask> {
  return Object.fromEntries(tasks.map((task) => [task.id, task]))
}

/** Tasks that ended in every way, and one that runs. */
async function variety(runtime: Runtime): Promise<Task> {
  const bodies = [
    async (ctx: AgentContext) => {
      await ctx.usage({ tokens: 3 })
      return { deep: [1, { text: 'é\u0000' }] }
    },
    () => undefined,
    () => failed('no such page'),
    () => cancelled('enough'),
    async (ctx: AgentContext) => {
      await ctx.say('so far')
      throw new Error('broken')
    },
  ]
  for (const [n, run] of bodies.entries()) {
    const task = await runtime.spawn({ thread, run, name: `n${n}`, input: { n }, metadata: { n } })
    await runtime.wait(task.id)
  }
  return runtime.spawn({ thread, run: untilStopped, description: 'runs on' })
}

/** What a task is apart from its place in a log. */
function apart(task: Task | undefined): object {
  const { seq: _seq, ...rest } = task as Task
  return rest
}

onEachStore(['memory', 'sqlite'], (_kind, world) => {
  it('REST-01 a snapshot has every task by id: ended ones with results, running ones with no completedAt', async () => {
    const runtime = await world().open()
    const running = await variety(runtime)
    await runtime.wait((await runtime.spawn({ thread: 'other', run: () => 1 })).id)
    const tasks = await snapshotTasks(runtime, thread)
    expect(Object.keys(tasks).toSorted()).toEqual(['bg_0', 'bg_1', 'bg_2', 'bg_3', 'bg_4', 'bg_5'])
    for (const [id, task] of Object.entries(tasks)) expect(task).toEqual(await runtime.get(id))
    expect(tasks['bg_0']).toMatchObject({ result: { deep: [1, { text: 'é\u0000' }] }, thread, completedAt: 1.7e12 })
    expect(tasks['bg_1']).not.toHaveProperty('result')
    expect(tasks[running.id]).toMatchObject({ status: 'running' })
    expect(tasks[running.id]).not.toHaveProperty('completedAt')
    expect(await snapshotTasks(runtime, 'never_used')).toEqual({})
  })

  it('REST-01 a snapshot has all tasks of a thread, however many', async () => {
    const runtime = await world().open()
    const many = Array.from({ length: 2345 }, (_, n) => persisted(`bg_${n}`, { result: n, createdAt: n }))
    expect((await restoreTasks(runtime, byId(...many))).restored).toEqual(many.map((task) => task.id))
    const tasks = await snapshotTasks(runtime, thread)
    expect(Object.keys(tasks)).toHaveLength(2345)
    expect(tasks['bg_2344']).toMatchObject({ result: 2344, createdAt: 2344 })
  })

  it('REST-04 restore keeps ended tasks as they were, in another store, over JSON', async () => {
    const runtime = await world().open()
    await variety(runtime)
    const tasks = decodeTasks(encodeTasks(await snapshotTasks(runtime, thread)))
    const here = world()
    await here.clock.advance(5000)
    const other = await here.open()
    const { restored, kept } = await restoreTasks(other, tasks)
    expect([restored.toSorted(), kept]).toEqual([Object.keys(tasks).toSorted(), []])
    for (const id of ['bg_0', 'bg_1', 'bg_2', 'bg_3', 'bg_4']) {
      expect(apart(await other.get(id))).toEqual(apart(tasks[id]))
      expect(await other.wait(id)).toMatchObject({ status: tasks[id]?.status })
    }
    expect((await other.list({ thread })).tasks.map((task) => task.id)).toEqual(Object.keys(tasks).toSorted().reverse())
    await here.crash()
    const later = await here.open()
    if (here.store.isDurable) expect(apart(await later.get('bg_0'))).toEqual(apart(tasks['bg_0']))
  })

  it('REST-04 a restored task is the fold of its events, which end with its one terminal event', async () => {
    const runtime = await world().open({ limits: { eventBytes: 2000 } })
    const tasks = [
      persisted('bg_3', { result: { a: 1 }, startedAt: 1500, completedAt: 2000, usage: { tokens: 2 } }),
      persisted('old', {
        status: 'cancelled',
        error: { code: 'cancelled', message: 'was cancelled' },
        attempt: 0,
        epoch: 0,
      }),
      persisted('bg_4', { status: 'running', startedAt: 1100, progress: 0.5, parent: { run: 'bg_0' as Task['id'] } }),
      persisted('bg_5', { status: 'pending', attempt: 0, epoch: 0, type: 'run', input: 'ask' }),
      persisted('bg_6', {
        status: 'failed',
        partial: true,
        error: { code: 'timeout', message: 'late' },
        completedAt: 5,
      }),
    ]
    await restoreTasks(runtime, byId(...tasks))
    for (const { id } of tasks) {
      const events = await eventsOf(runtime, thread, id)
      expect(events.map((event) => event.type)).toEqual(['task.accepted', expect.stringMatching(/ed$/)])
      const folded = events.reduce<Task | undefined>(foldTask, undefined)
      expect(folded).toEqual(await runtime.get(id))
    }
    expect((await logOf(runtime, thread)).map((event) => event.seq)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10])
    const large = persisted('large', { input: 'i'.repeat(5000), result: 'r'.repeat(5000) })
    await restoreTasks(runtime, byId(large))
    expect(await runtime.get('large')).toMatchObject({ input: large.input, result: large.result })
    const omitted = (await eventsOf(runtime, thread, 'large')).map((event) => event.data)
    expect(omitted).toMatchObject([{ inputOmitted: true }, { resultOmitted: true }])
  })

  it('REST-05 restore never overwrites or degrades a task that is in the store', async () => {
    const runtime = await world().open()
    const finish = gate<string>()
    const live = await runtime.spawn({ thread, run: () => finish.opened, description: 'live' })
    const ended = await runtime.spawn({ thread, run: () => 'mine' })
    await runtime.wait(ended.id)
    const elsewhere = await runtime.spawn({ thread: 'other', run: untilStopped })
    const foreign = await runtime.as('alice').spawn({ thread, run: untilStopped })
    const before = await logOf(runtime, thread)
    const old = await snapshotTasks(runtime, thread)
    const ids = [live, ended, elsewhere, foreign].map((task) => task.id)
    const lies = ids.map((id) => persisted(id, { status: 'failed', error: { code: 'agent_error', message: 'a lie' } }))
    for (const tasks of [byId(...lies), old, byId(...ids.map((id) => persisted(id, { status: 'running' })))]) {
      const { restored, kept } = await restoreTasks(runtime, tasks)
      expect([restored, kept.toSorted()]).toEqual([[], Object.keys(tasks).toSorted()])
    }
    expect(await logOf(runtime, thread)).toEqual(before)
    expect(await runtime.get(live.id)).toMatchObject({ status: 'running', description: 'live' })
    expect(await runtime.get(elsewhere.id)).toMatchObject({ status: 'running', thread: 'other' })
    expect(await runtime.get(foreign.id)).toBeUndefined()
    finish.open('true outcome')
    expect(await runtime.wait(live.id)).toMatchObject({ status: 'completed', result: 'true outcome' })
  })

  it('REST-05 of two restores at once, and spawns between them, each task comes about once', async () => {
    const runtime = await world().open()
    const first = await runtime.spawn({ thread, run: () => 'spawned' })
    const tasks = byId(...Array.from({ length: 200 }, (_, n) => persisted(`bg_${n}`, { result: `restored ${n}` })))
    const spawn = () => runtime.spawn({ thread, run: () => 'spawned' })
    const [one, a, two, b, c] = await Promise.all([
      restoreTasks(runtime, tasks),
      spawn(),
      restoreTasks(runtime, tasks),
      spawn(),
      spawn(),
    ])
    const spawned = [first, a, b, c].map((task) => task.id)
    for (const id of spawned) expect(await runtime.wait(id)).toMatchObject({ result: 'spawned' })
    const all = [...one.restored, ...two.restored, ...spawned]
    expect(new Set(all).size).toBe(all.length)
    const accepted = (await logOf(runtime, thread)).filter((event) => event.type === 'task.accepted')
    expect(accepted.map((event) => event.task).toSorted()).toEqual(all.toSorted())
    expect(new Set([...all, ...Object.keys(tasks)]).size).toBe(all.length)
  })

  it('REST-06 a task whose process died and that cannot be resumed fails with an error that says orphaned', async () => {
    const here = world()
    const agents = { once: { run: forever, isResumable: false } }
    const runtime = await here.open({ agents })
    const closure = await runtime.spawn({ thread, run: forever })
    const once = await runtime.spawn({ thread, agent: 'once' })
    await here.crash()
    const next = await here.open({ agents })
    for (const { id } of [closure, once]) {
      const ended = await next.wait(id)
      expect(ended).toMatchObject({
        status: 'failed',
        error: { code: 'orphaned', message: expect.stringContaining('orphaned') },
      })
    }
  })

  it('REST-06 what had not ended in the snapshot fails as orphaned, unless a cancel had been asked for', async () => {
    const runtime = await world().open()
    const tasks = [
      persisted('bg_0', { status: 'running', startedAt: 1200 }),
      persisted('bg_1', { status: 'pending', attempt: 0, epoch: 0, position: 0, type: 'run', input: 'ask' }),
      persisted('bg_2', { status: 'running', cancelRequestedAt: 1300 }),
    ]
    await restoreTasks(runtime, byId(...tasks))
    const orphaned = { status: 'failed', error: { code: 'orphaned', message: expect.stringContaining('orphaned') } }
    expect(await runtime.get('bg_0')).toMatchObject({
      ...orphaned,
      createdAt: 1000,
      startedAt: 1200,
      completedAt: 1.7e12,
    })
    expect(await runtime.get('bg_1')).toMatchObject(orphaned)
    expect(await runtime.get('bg_2')).toMatchObject({
      status: 'cancelled',
      error: { code: 'cancelled', message: expect.stringContaining('cancelled') },
    })
    expect(await runtime.hasRunning(thread)).toBe(false)
    expect((await runtime.results(thread)).results.map((result) => result.task)).toEqual(['bg_0', 'bg_2'])
  })

  it('REST-07 after bg_5 and bg_10 the next is bg_11; restored ids may be any string, only bg_n count', async () => {
    const here = world()
    const runtime = await here.open()
    const spawn = async (from: Runtime) => (await from.spawn({ thread, run: () => 1 })).id
    expect(await spawn(runtime)).toBe('bg_0')
    const ids = ['bg_10', 'bg_5', 'task-99', 'bg_99x', 'bg_012', 'BG_50', '__proto__', 'é 👩', '77', 'a/b#c%d']
    await restoreTasks(runtime, byId(...ids.map((id) => persisted(id))))
    for (const id of ids) expect(await runtime.get(id)).toMatchObject({ id, status: 'completed' })
    expect([await spawn(runtime), await spawn(runtime)]).toEqual(['bg_11', 'bg_12'])
    await restoreTasks(runtime, byId(persisted('bg_7'), persisted('bg_13')))
    expect(await spawn(runtime)).toBe('bg_14')
    for (const id of ['', 'a\tb', 'a\nb', 'a\u0000', '\ud800', 'x'.repeat(201)]) {
      await expect(restoreTasks(runtime, byId(persisted('bg_40'), persisted(id)))).rejects.toMatchObject({
        code: 'invalid_request',
      })
    }
    expect(await runtime.get('bg_40')).toBeUndefined()
  })

  it('REST-07 a number that was handed out and given back is not handed out again once a restored task has it', async () => {
    const here = world()
    const runtime = await here.open()
    here.store.down()
    const spawn = () => runtime.spawn({ thread, run: () => 1 })
    await expect(spawn()).rejects.toMatchObject({ code: 'store_unavailable' })
    here.store.up()
    await here.clock.advance(5000)
    await here.quiet()
    await restoreTasks(runtime, byId(persisted('bg_0')))
    const ids = [(await spawn()).id, (await spawn()).id]
    expect(ids).toEqual(['bg_1', 'bg_2'])
  })

  it('a restored task is news to nobody: no owner, no parent, no queue hears of it', async () => {
    const inbox = createInbox()
    const agents = { slow: untilStopped }
    const runtime = await world().open({ inbox, agents })
    const parent = await runtime.spawn({
      thread,
      run: async (ctx) => (await ctx.receive({ timeoutMs: 0 })) ?? 'nothing',
    })
    const run = await runtime.run({ thread, agent: 'slow', prompt: 'go' })
    const family = { parent: { task: parent.id }, name: 'scout' }
    const held = runtime.spawn({ thread, run: untilStopped, name: 'scout' })
    await restoreTasks(
      runtime,
      byId(
        persisted('old_1', family),
        persisted('old_2', { ...family, status: 'running' }),
        persisted('old_3', { type: 'run' }),
      ),
    )
    expect(await runtime.wait(parent.id)).toMatchObject({ result: 'nothing' })
    expect(inbox.drain()).toEqual([{ kind: 'completed', taskId: parent.id, result: 'nothing' }])
    expect(await runtime.get(run.id)).toMatchObject({ status: 'running' })
    expect(await runtime.get((await held).id)).toMatchObject({ status: 'running', name: 'scout' })
    expect((await runtime.messages(thread)).map((message) => message.task)).toEqual([run.id])
    expect(await runtime.send('old_1', { content: 'hello' })).toMatchObject({ reason: 'task_terminated' })
    expect(await runtime.cancel('old_1')).toBe(false)
  })

  it('a restore is refused while the store is down, and done when it is asked for again', async () => {
    const here = world()
    const runtime = await here.open()
    here.store.down()
    await expect(restoreTasks(runtime, byId(persisted('bg_3')))).rejects.toMatchObject({ code: 'store_unavailable' })
    expect(await runtime.get('bg_3')).toBeUndefined()
    here.store.up()
    await here.clock.advance(5000)
    await here.quiet()
    expect(await restoreTasks(runtime, byId(persisted('bg_3')))).toEqual({ restored: ['bg_3'], kept: [] })
    expect((await runtime.spawn({ thread, run: () => 1 })).id).toBe('bg_4')
  })
})
