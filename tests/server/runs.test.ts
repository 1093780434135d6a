import { expect, it } from 'vitest'
import type { Task } from '../../src/core/task.ts'
import { connect, expectStatus, transports } from './harness/client.ts'
import { freshThread, onSharedServer } from './harness/on-each-server.ts'
import { messagesOf, read, scriptRun, snapshotOf, spawnScript, taskOf, textOf } from './harness/reads.ts'

onSharedServer(['memory', 'sqlite'], (kind, server) => {
  it.for(transports)(
    'RUN-01 RUN-04 thinking, the final answer and the end are seen in this order over %s',
    async (transport) => {
      const thread = freshThread()
      const client = await connect(transport, server())
      const script = [{ think: 'let me see' }, { answer: 'a first thought' }, { answer: 'forty-two' }]
      const run = await client.run(thread, scriptRun(script))
      const watcher = await client.watch({ thread, task: run.id })
      expect(await watcher.ended).toEqual({ by: 'end' })
      expect(watcher.events.map(({ type }) => type)).toEqual([
        'task.accepted',
        'task.started',
        'message.created',
        'thinking',
        'answer',
        'answer',
        'message.created',
        'task.completed',
      ])
      expect(watcher.events.at(-1)?.data).toEqual({ result: 'forty-two' })
      const [user, assistant, ...more] = await messagesOf(server(), thread)
      expect(more).toEqual([])
      expect(user).toMatchObject({ role: 'user', parts: [{ type: 'data', name: 'input', value: { script } }] })
      expect(assistant).toMatchObject({ role: 'assistant', finish: 'end_turn', task: run.id })
      expect(textOf(assistant)).toBe('forty-two')
      client.drop()
    },
  )

  it.for(transports)(
    'RUN-02 RUN-05 RUN-07 an error after partial output keeps the output, over %s',
    async (transport) => {
      const thread = freshThread()
      const client = await connect(transport, server())
      const run = await client.run(thread, scriptRun([{ say: 'so far so good' }, { fail: 'the disk is full' }]))
      const watcher = await client.watch({ thread, task: run.id })
      await watcher.ended
      const error = { code: 'agent_error', message: 'the disk is full' }
      const failures = watcher.events.filter(({ type }) => type === 'task.failed')
      expect(failures.map(({ data }) => data)).toEqual([{ error, partial: true }])
      const record = await taskOf(server(), run.id)
      expect(record).toMatchObject({ status: 'failed', error, partial: true })
      expect(record).not.toHaveProperty('progress')
      const assistant = (await messagesOf(server(), thread)).at(-1)
      expect(assistant).toMatchObject({ role: 'assistant', finish: 'error' })
      expect(textOf(assistant)).toBe('so far so good')
      client.drop()
    },
  )

  it.for(transports)('RUN-03 an error before any output stores no assistant message, over %s', async (transport) => {
    const thread = freshThread()
    const client = await connect(transport, server())
    const run = await client.run(thread, scriptRun([{ think: 'hm' }, { fail: 'nothing comes to mind' }]))
    const watcher = await client.watch({ thread, task: run.id })
    await watcher.ended
    expect(watcher.events.at(-1)?.data).toEqual({ error: { code: 'agent_error', message: 'nothing comes to mind' } })
    expect((await messagesOf(server(), thread)).map(({ role }) => role)).toEqual(['user'])
    expect(await taskOf(server(), run.id)).not.toHaveProperty('partial')
    client.drop()
  })

  it.for(transports)(
    'RUN-06 the record says running, then completed with output and progress 1, over %s',
    async (transport) => {
      const thread = freshThread()
      const client = await connect(transport, server())
      const script = [{ progress: 0.25 }, { receive: {} }, { return: { pages: [1, { two: null }] } }]
      const run = await client.run(thread, scriptRun(script))
      const watcher = await client.watch({ thread, task: run.id })
      await watcher.until(({ type }) => type === 'progress')
      const during = await taskOf(server(), run.id)
      expect(during).toMatchObject({ status: 'running', attempt: 1, epoch: 1, progress: 0.25 })
      expect(during).not.toHaveProperty('completedAt')
      await client.send(thread, run.id, 'go on')
      await watcher.ended
      const after = await taskOf(server(), run.id)
      expect(after).toMatchObject({ status: 'completed', progress: 1, result: { pages: [1, { two: null }] } })
      expect(after.completedAt).toBeGreaterThanOrEqual(after.startedAt ?? Number.NaN)
      expect(after.seq).toBe(watcher.events.at(-1)?.seq)
      client.drop()
    },
  )

  if (kind === 'memory') {
    it.for(transports)('RUN-08 a server works with the memory store alone, over %s', async (transport) => {
      const thread = freshThread()
      const client = await connect(transport, server())
      const run = await client.run(thread, { agent: 'echo', prompt: 'hello' })
      await (await client.watch({ thread, task: run.id })).ended
      expect(await taskOf(server(), run.id)).toMatchObject({ status: 'completed', result: 'hello' })
      client.drop()
    })
  }

  it('RUN-09 listing filters by status, thread, type, name and parent', async () => {
    const [thread, other] = [freshThread(), freshThread()]
    const client = await connect('sse', server())
    const completed = await client.run(thread, { agent: 'echo', prompt: 'hello' })
    await (await client.watch({ thread, task: completed.id })).ended
    const failed = await client.run(thread, scriptRun([{ fail: 'no' }]))
    await (await client.watch({ thread, task: failed.id })).ended
    const parent = await spawnScript(server(), thread, [{ hang: true }], { name: 'parent-1' })
    const child = await spawnScript(server(), thread, [{ hang: true }], { parent: parent.id, type: 'shell' })
    await client.run(other, { agent: 'echo', prompt: 'elsewhere' })
    const list = async (query: string) =>
      (await read<{ tasks: Task[] }>(server(), `/v1/tasks?thread=${thread}&${query}`)).tasks.map(({ id }) => id)
    expect(await list('')).toEqual([child.id, parent.id, failed.id, completed.id])
    expect(await list('status=completed')).toEqual([completed.id])
    expect(await list('status=failed')).toEqual([failed.id])
    await expect.poll(() => list('status=running')).toEqual([child.id, parent.id])
    expect(await list('status=pending')).toEqual([])
    expect(await list('type=shell')).toEqual([child.id])
    expect(await list('name=parent-1')).toEqual([parent.id])
    expect(await list(`parent=${parent.id}`)).toEqual([child.id])
    const refused = await server().request('GET', '/v1/tasks?status=done')
    expect(refused).toMatchObject({ status: 400, body: { code: 'invalid_request' } })
    await client.cancel(thread, { scope: 'all' })
  })

  it('a list goes on over pages without a hole or a repeat', async () => {
    const thread = freshThread()
    const ids: string[] = []
    for (let n = 0; n < 7; n += 1) ids.push((await spawnScript(server(), thread, [])).id)
    const seen: string[] = []
    for (let cursor = ''; ; ) {
      const query = `thread=${thread}&limit=3${cursor && `&cursor=${encodeURIComponent(cursor)}`}`
      const page = await read<{ tasks: Task[]; cursor?: string }>(server(), `/v1/tasks?${query}`)
      seen.push(...page.tasks.map(({ id }) => id))
      if (page.cursor === undefined) break
      cursor = page.cursor
    }
    expect(seen).toEqual(ids.toReversed())
  })

  it('RUN-10 the record keeps its thread id, so that a front end can recover', async () => {
    const thread = 'project:7~a@home.x-1'
    const client = await connect('sse', server())
    const run = await client.run(thread, scriptRun([{ hang: true }]))
    const found = await taskOf(server(), run.id)
    expect(found.thread).toBe(thread)
    expect((await snapshotOf(server(), found.thread)).tasks.map(({ id }) => id)).toEqual([run.id])
    await client.cancel(thread)
  })

  it('a 202 names the task in Location, and every answer names the node that is in task.started', async () => {
    const thread = freshThread()
    const body = { agent: 'echo', prompt: 'hello\nworld', metadata: { a: [1] } }
    const accepted = await server().request<Task>('POST', `/v1/threads/${thread}/runs`, { body })
    expect(accepted.status).toBe(202)
    expect(accepted.body).toMatchObject({ thread, type: 'run', description: 'hello', metadata: { a: [1] } })
    const location = accepted.headers.get('location') ?? ''
    expect(location).toBe(`/v1/tasks/${accepted.body.id}`)
    const client = await connect('sse', server())
    const watcher = await client.watch({ thread, task: accepted.body.id })
    const started = (await watcher.until(({ type }) => type === 'task.started')).at(-1)
    await watcher.ended
    const task = await server().request<Task>('GET', location)
    expect(task.body).toMatchObject({ status: 'completed', result: 'hello\nworld' })
    for (const { headers } of [accepted, task, await server().request('GET', '/v1/tasks/none')]) {
      expect(headers.get('x-holdfast-node')).toBe(started?.type === 'task.started' && started.data.node)
      expect(headers.get('x-request-id')).toBeTruthy()
    }
  })

  it('RUN-15 a run ends well with no client attached at all', async () => {
    const thread = freshThread()
    const script = [{ say: 'first ' }, { sleepMs: 20 }, { say: 'second' }, { return: 'done' }]
    const path = `/v1/threads/${thread}/runs`
    const run = await expectStatus(202, server().request<Task>('POST', path, { body: scriptRun(script) }))
    // A later run starts when this one has ended; it alone is watched.
    const client = await connect('sse', server())
    const next = await client.run(thread, { agent: 'echo', prompt: 'next' })
    await (await client.watch({ thread, task: next.id })).ended
    expect(await taskOf(server(), run.id)).toMatchObject({ status: 'completed', result: 'done' })
    expect(textOf((await messagesOf(server(), thread))[1])).toBe('first second')
  })
})
