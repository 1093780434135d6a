import { expect, it } from 'vitest'
import type { Task } from '../../src/core/task.ts'
import { connect, expectStatus, isEndOf, transports, watch } from './harness/client.ts'
import { followAll } from './harness/firehose.ts'
import { freshThread, onSharedServer } from './harness/on-each-server.ts'
import { logOf, read, scriptRun, snapshotOf, taskOf } from './harness/reads.ts'
import type { Refused } from './harness/refused.ts'
import type { TestServer } from './harness/server.ts'
import { Socket } from './harness/socket.ts'

/** A run of alice that goes on until it is told, and one that has ended, in one thread. */
async function alicesRuns(server: TestServer): Promise<{ thread: string; live: string; ended: string }> {
  const thread = freshThread()
  const client = await connect('sse', server)
  const ended = await client.run(thread, { agent: 'echo', prompt: 'secret' })
  await (await client.watch({ thread, task: ended.id })).ended
  const live = await client.run(thread, scriptRun([{ say: 'secret' }, { receive: {} }]))
  const watcher = await client.watch({ thread, task: live.id })
  await watcher.until(({ type }) => type === 'text.delta')
  watcher.close()
  return { thread, live: live.id, ended: ended.id }
}

/** Every request that names a task, a question or, through one, a thread. */
function requestsFor(
  thread: string,
  id: string,
): [method: string, path: string, body?: object | undefined, accept?: string][] {
  const events = `/v1/threads/${thread}/events?task=${id}`
  return [
    ['GET', `/v1/tasks/${id}`],
    ['POST', `/v1/tasks/${id}/cancel`, {}],
    ['POST', `/v1/tasks/${id}/cancel`, { tree: false, reason: 'mine now' }],
    ['POST', `/v1/tasks/${id}/messages`, { content: 'hello' }],
    ['POST', `/v1/questions/${id}/answer`, { answer: 'yes' }],
    ['POST', `/v1/threads/${thread}/tasks`, { agent: 'echo', prompt: 'a', parent: id }],
    ['GET', events, undefined, 'text/event-stream'],
    ['GET', events, undefined, 'application/x-ndjson'],
    ['GET', events, undefined, 'application/json'],
    ['GET', `${events}&after=1&types=custom`, undefined, 'application/json'],
  ]
}

/** What bob gets for an id: status, headers and bytes. The request id is chosen by him, so nothing differs by itself. */
async function answersTo(server: TestServer, thread: string, id: string): Promise<unknown[]> {
  const answers: unknown[] = []
  for (const [method, path, body, accept = 'application/json'] of requestsFor(thread, id)) {
    const headers = { accept, 'x-request-id': 'the-same' }
    const answer = await server.request(method, path, { as: 'bob', headers, ...(body && { body }) })
    const shown = [...answer.headers].filter(([name]) => name !== 'date')
    answers.push([method, path.replaceAll(id, 'ID'), answer.status, shown, answer.text])
  }
  return answers
}

onSharedServer(['memory', 'sqlite'], (_kind, server) => {
  it.for(transports)('OWN-01 resuming a task under another thread is refused, over %s', async (transport) => {
    const { thread, live, ended } = await alicesRuns(server())
    const other = freshThread()
    await (await connect('sse', server())).run(other, { agent: 'echo', prompt: 'a' })
    for (const task of [live, ended]) {
      const resuming = watch(transport, server(), { thread: other, task, after: 1 })
      await expect(resuming).rejects.toMatchObject({ code: 'not_found', status: 404 })
    }
    await (await connect('sse', server())).cancel(thread)
  })

  it.for(transports)('OWN-02 resuming a task under its own thread works, over %s', async (transport) => {
    const { thread, live } = await alicesRuns(server())
    const client = await connect(transport, server())
    const first = await client.watch({ thread, task: live })
    const seen = (await first.until(({ type }) => type === 'text.delta')).at(-1)
    first.close()
    const resumed = await client.watch({ thread, task: live, after: seen?.seq ?? 0 })
    await client.send(thread, live, 'go on')
    await resumed.ended
    expect(resumed.events.map(({ type }) => type)).toEqual([
      'inbox.accepted',
      'custom',
      'message.created',
      'task.completed',
    ])
    client.drop()
  })

  it('OWN-03 attach, cancel and send with the thread left out are refused, and nothing is done', async () => {
    const { thread, live } = await alicesRuns(server())
    const socket = await Socket.open(server())
    const frames = [
      { type: 'attach', task: live, after: 0 },
      { type: 'cancel', task: live },
      { type: 'send', task: live, content: 'hello' },
    ]
    for (const frame of frames) {
      await expect(socket.ask(frame)).rejects.toMatchObject({ code: 'invalid_request', status: 400 })
      for (const nothing of ['', null, 0]) {
        await expect(socket.ask({ ...frame, thread: nothing })).rejects.toMatchObject({ code: 'invalid_request' })
      }
      for (const task of ['', 'bg_999999', 'nobody']) {
        await expect(socket.ask({ ...frame, thread, task })).rejects.toBeInstanceOf(Error)
      }
      await expect(socket.ask({ ...frame, thread: freshThread() })).rejects.toMatchObject({ code: 'not_found' })
    }
    expect(await taskOf(server(), live)).toMatchObject({ status: 'running' })
    expect((await logOf(server(), thread)).map(({ type }) => type)).not.toContain('inbox.accepted')
    await socket.ask({ type: 'cancel', thread, task: live })
    socket.drop()
  })

  it('OWN-04 another principal is answered byte for byte as for a task that does not exist, on every route', async () => {
    const { thread, live, ended } = await alicesRuns(server())
    const { length } = await logOf(server(), thread)
    const missing = await answersTo(server(), thread, 'bg_999999')
    for (const answer of missing as [string, string, number][]) expect(answer[2]).toBe(404)
    for (const id of [live, ended]) expect(await answersTo(server(), thread, id)).toEqual(missing)
    expect(await logOf(server(), thread)).toHaveLength(length)
    await (await connect('sse', server())).cancel(thread)
  })

  it('OWN-04 another principal is answered as for a task that does not exist, in every frame', async () => {
    const { thread, live, ended } = await alicesRuns(server())
    const { length } = await logOf(server(), thread)
    const socket = await Socket.open(server(), 'bob')
    const answers: string[][] = []
    for (const task of ['bg_999999', live, ended]) {
      const frames = [
        { type: 'attach', thread, task, after: 0 },
        { type: 'attach', thread, task },
        { type: 'cancel', thread, task },
        { type: 'send', thread, task, content: 'hello' },
        { type: 'answer', question: task, answer: 'yes' },
      ]
      const problems: string[] = []
      for (const frame of frames) {
        const { problem } = await socket.ask(frame).then(
          () => Promise.reject(new Error(`${frame.type} was not refused`)),
          (refused: Refused) => refused,
        )
        expect(problem).toMatchObject({ code: 'not_found', status: 404 })
        problems.push(JSON.stringify({ ...problem, requestId: 'the-same' }))
      }
      answers.push(problems)
    }
    expect(answers[1]).toEqual(answers[0])
    expect(answers[2]).toEqual(answers[0])
    expect(await logOf(server(), thread)).toHaveLength(length)
    socket.drop()
    await (await connect('sse', server())).cancel(thread)
  })

  it.for(transports)('OWN-04 two principals that use one thread id never meet, over %s', async (transport) => {
    const { thread, live } = await alicesRuns(server())
    expect(await snapshotOf(server(), thread, 'bob')).toMatchObject({ head: 0, messages: [], tasks: [], live: [] })
    expect(await read(server(), '/v1/tasks', 'bob')).toMatchObject({
      tasks: expect.not.arrayContaining([{ id: live }]),
    })
    const bob = await connect(transport, server(), 'bob')
    const watchers = [await bob.watch({ thread }), await watch(transport, server(), { thread })]
    expect(await bob.cancel(thread, { scope: 'all' })).toEqual([])
    const run = await bob.run(thread, { agent: 'echo', prompt: 'mine' })
    const seen = await watchers[0]?.until(isEndOf(run.id))
    expect(seen?.every(({ task }) => task === run.id)).toBe(true)
    expect(seen?.[0]?.seq).toBe(1)
    const alice = await connect(transport, server())
    await alice.cancel(thread)
    const hers = await watchers[1]?.until(isEndOf(live))
    expect(hers?.some(({ task }) => task === run.id)).toBe(false)
    const threads = await read<{ threads: { thread: string }[] }>(server(), '/v1/threads?limit=1000', 'bob')
    expect(threads.threads.map((summary) => summary.thread)).toContain(thread)
    for (const client of [bob, alice]) client.drop()
  })

  it('OWN-04 the results, lists and questions of another principal hold nothing', async () => {
    const { thread, live } = await alicesRuns(server())
    const body = { agent: 'script', input: { script: [{ return: 'secret' }] } }
    const spawned = await expectStatus(202, server().request<Task>('POST', `/v1/threads/${thread}/tasks`, { body }))
    await (await watch('sse', server(), { thread, task: spawned.id })).ended
    expect(await read(server(), `/v1/threads/${thread}/results`, 'bob')).toEqual({ results: [], running: 0 })
    const collect = { body: { tasks: [spawned.id, live] }, as: 'bob' }
    const collected = await server().request('POST', `/v1/threads/${thread}/results/collect`, collect)
    expect(collected).toMatchObject({ status: 200, body: { collected: [] } })
    expect(await read(server(), `/v1/tasks?thread=${thread}`, 'bob')).toEqual({ tasks: [] })
    expect(await read(server(), `/v1/tasks?parent=${live}`, 'bob')).toEqual({ tasks: [] })
    expect(await read(server(), '/v1/questions', 'bob')).toEqual({ questions: [] })
    expect(await read(server(), `/v1/threads/${thread}/messages`, 'bob')).toEqual({ messages: [] })
    expect(await server().request('DELETE', `/v1/threads/${thread}`, { as: 'bob' })).toMatchObject({ status: 204 })
    expect((await read<{ results: object[] }>(server(), `/v1/threads/${thread}/results`)).results).toHaveLength(1)
    await (await connect('sse', server())).cancel(thread, { scope: 'all' })
  })

  it('OWN-04 the live events of all threads are those of one principal, each thread in order', async () => {
    const [thread, other] = [freshThread(), freshThread()]
    const last = freshThread()
    const all = followAll(server(), 'bob', (event) => event.thread === last && event.type === 'task.completed')
    await all.opened
    const [alice, bob] = [await connect('sse', server()), await connect('sse', server(), 'bob')]
    await alice.run(thread, { agent: 'echo', prompt: 'secret' })
    const runs = [
      await bob.run(thread, { agent: 'echo', prompt: 'mine' }),
      await bob.run(other, { agent: 'echo', prompt: 'mine' }),
    ]
    for (const run of runs) await (await bob.watch({ thread: run.thread, task: run.id })).ended
    await bob.run(last, { agent: 'echo', prompt: 'last' })
    const events = await all.events
    expect(JSON.stringify(events)).not.toContain('secret')
    for (const { id, thread: own } of runs) {
      const seen = events.filter((event) => event.thread === own)
      expect(seen.every(({ task }) => task === id)).toBe(true)
      expect(seen).toEqual(await logOf(server(), own, 'bob'))
    }
    for (const client of [alice, bob]) client.drop()
  })

  it('who shows no token, or a wrong one, is answered 401 on every route and at the upgrade', async () => {
    const { thread, live } = await alicesRuns(server())
    const requests = [...requestsFor(thread, live), ['GET', `/v1/threads/${thread}`], ['GET', '/v1/tasks']] as const
    for (const [method, path, body, accept = 'application/json'] of requests) {
      for (const authorization of ['', 'Bearer wrong', `Basic ${server().tokens['alice']}`]) {
        const headers = { accept, authorization }
        const answer = await server().request(method, path, { as: '', headers, ...(body && { body }) })
        expect(answer).toMatchObject({ status: 401, body: { code: 'unauthenticated' } })
      }
    }
    await expect(Socket.open(server(), '')).rejects.toThrow('401')
    const token = server().tokens['alice'] ?? ''
    expect(await server().request('GET', `/v1/tasks/${live}?token=${token}`, { as: '' })).toMatchObject({ status: 401 })
    await (await connect('sse', server())).cancel(thread)
  })
})
