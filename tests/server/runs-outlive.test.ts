import { expect, it } from 'vitest'
import type { Task } from '../../src/core/task.ts'
import { connect, expectStatus, isEndOf, transports, watch } from './harness/client.ts'
import { onEachGatedServer } from './harness/gated-server.ts'
import { startLedger } from './harness/ledger.ts'
import { freshThread, onSharedServer } from './harness/on-each-server.ts'
import { RawRequest } from './harness/raw-request.ts'
import { logOf, messagesOf, read, scriptRun, snapshotOf, taskOf, textOf } from './harness/reads.ts'
import type { TestServer } from './harness/server.ts'
import { Socket } from './harness/socket.ts'

const untilTold = [{ say: 'before ' }, { receive: {} }, { say: 'after' }, { return: 'done' }]

async function runsIn(server: TestServer, thread: string): Promise<readonly Task[]> {
  return (await read<{ tasks: Task[] }>(server, `/v1/tasks?thread=${thread}`)).tasks
}

onSharedServer(['memory', 'sqlite'], (_kind, server) => {
  it('RUN-11 RUN-12 a dropped WebSocket cancels nothing, and the result is there for who comes back', async () => {
    const thread = freshThread()
    const socket = await Socket.open(server())
    const run = (await socket.ask({ type: 'run', thread, ...scriptRun(untilTold) }))['task'] as Task
    await socket.ask({ type: 'attach', thread, task: run.id, after: 0 })
    socket.drop()
    await socket.closed
    expect(await taskOf(server(), run.id)).toMatchObject({ status: 'running' })
    const again = await connect('ws', server())
    await again.send(thread, run.id, 'go on')
    const watcher = await again.watch({ thread, task: run.id })
    await watcher.ended
    expect(watcher.events.map(({ type }) => type)).not.toContain('task.cancelling')
    expect(await taskOf(server(), run.id)).toMatchObject({ status: 'completed', result: 'done' })
    expect(textOf((await messagesOf(server(), thread)).at(-1))).toBe('before after')
    again.drop()
  })

  it.for(transports)(
    'RUN-12 who left over %s and comes back finds the result in snapshot, record and log',
    async (transport) => {
      const thread = freshThread()
      const client = await connect(transport, server())
      const run = await client.run(thread, scriptRun(untilTold))
      const left = await client.watch({ thread })
      const seen = (await left.until(({ type }) => type === 'text.delta')).at(-1)
      client.drop()
      const other = await connect('sse', server())
      await other.send(thread, run.id, 'go on')
      await (await other.watch({ thread, task: run.id })).ended
      const back = await watch(transport, server(), { thread, after: seen?.seq ?? 0 })
      expect((await back.until(isEndOf(run.id))).at(-1)?.data).toEqual({ result: 'done' })
      const snapshot = await snapshotOf(server(), thread)
      expect(snapshot.tasks).toMatchObject([{ id: run.id, status: 'completed', result: 'done' }])
      expect(textOf(snapshot.messages.at(-1))).toBe('before after')
      back.close()
    },
  )

  it('RUN-13 a POST is answered at once, and its run outlives the request', async () => {
    const thread = freshThread()
    const ledger = await startLedger()
    ledger.hold('work')
    const script = [{ step: 'work', effect: ledger.url }, { return: 'done' }]
    const run = await (await connect('sse', server())).run(thread, scriptRun(script))
    // The 202 is here while the effect has not even been answered.
    await ledger.until('work')
    expect(await taskOf(server(), run.id)).toMatchObject({ status: 'running' })
    ledger.release('work')
    await (await watch('sse', server(), { thread, task: run.id })).ended
    expect(await taskOf(server(), run.id)).toMatchObject({ status: 'completed', result: 'done' })
    await ledger.close()
  })

  it.for(transports)(
    'RUN-14 a run outlives the client that started it over %s, and another sees it end',
    async (transport) => {
      const thread = freshThread()
      const starter = await connect(transport, server())
      const run = await starter.run(thread, scriptRun(untilTold))
      const own = await starter.watch({ thread })
      await own.until(({ type }) => type === 'text.delta')
      const other = await connect(transport, server())
      const watcher = await other.watch({ thread })
      starter.drop()
      await own.ended
      await other.send(thread, run.id, 'go on')
      const seen = await watcher.until(isEndOf(run.id))
      expect(seen.at(-1)?.data).toEqual({ result: 'done' })
      other.drop()
    },
  )

  it.for(transports)('RUN-16 the same prompt with one idempotency key is one run, over %s', async (transport) => {
    const thread = freshThread()
    const body = { agent: 'echo', prompt: 'hello' }
    const key = `key-of-${thread}`
    const socket = await Socket.open(server())
    const ask = (given: object) => {
      if (transport === 'ws') {
        return socket.ask({ type: 'run', thread, ...given, idempotencyKey: key }).then((frame) => frame['task'] as Task)
      }
      const headers = { 'idempotency-key': key }
      return expectStatus(202, server().request<Task>('POST', `/v1/threads/${thread}/runs`, { body: given, headers }))
    }
    const runs = await Promise.all(Array.from({ length: 10 }, () => ask(body)))
    expect(new Set(runs.map(({ id }) => id)).size).toBe(1)
    const [run] = runs
    await (await watch(transport, server(), { thread, task: run?.id ?? '' })).ended
    expect(await ask(body)).toMatchObject({ id: run?.id, status: 'completed', result: 'hello' })
    expect(await runsIn(server(), thread)).toHaveLength(1)
    await expect(ask({ ...body, prompt: 'other' })).rejects.toMatchObject({ code: 'idempotency_conflict', status: 409 })
    expect(await runsIn(server(), thread)).toHaveLength(1)
    socket.drop()
  })

  it('RUN-16 a replay says so, on both routes; a key is a principal’s own, and refusals are not kept', async () => {
    const thread = freshThread()
    const headers = { 'idempotency-key': `own-${thread}` }
    for (const route of ['runs', 'tasks']) {
      const path = `/v1/threads/${thread}/${route}`
      const key = { 'idempotency-key': `${route}-${thread}` }
      const refused = await server().request('POST', path, { body: { agent: 'nobody', prompt: 'a' }, headers: key })
      expect(refused).toMatchObject({ status: 422, body: { code: 'unknown_agent' } })
      const body = { agent: 'echo', prompt: 'a' }
      const first = await server().request<Task>('POST', path, { body, headers: key })
      const second = await server().request<Task>('POST', path, { body, headers: key })
      expect([first.status, second.status]).toEqual([202, 202])
      expect(second.body.id).toBe(first.body.id)
      expect(first.headers.get('idempotency-replayed')).toBeNull()
      expect(second.headers.get('idempotency-replayed')).toBe('true')
    }
    const path = `/v1/threads/${thread}/runs`
    const body = { agent: 'echo', prompt: 'same' }
    const ours = await server().request<Task>('POST', path, { body, headers })
    const theirs = await server().request<Task>('POST', path, { body, headers, as: 'bob' })
    expect(theirs.status).toBe(202)
    expect(theirs.body.id).not.toBe(ours.body.id)
    const elsewhere = await server().request('POST', `/v1/threads/${freshThread()}/runs`, { body, headers })
    expect(elsewhere).toMatchObject({ status: 409, body: { code: 'idempotency_conflict' } })
  })

  it('a POST whose client hangs up is accepted or not, never half, and its key tells', async () => {
    for (let round = 0; round < 30; round += 1) {
      const thread = freshThread()
      const body = { agent: 'echo', prompt: 'hello' }
      const headers = { 'idempotency-key': `hung-up-${thread}` }
      const path = `/v1/threads/${thread}/runs`
      const request = new RawRequest(server(), 'POST', path, { body, headers })
      await request.sendPart(round / 29)
      request.hangUp()
      const run = await expectStatus(202, server().request<Task>('POST', path, { body, headers }))
      await (await watch('sse', server(), { thread, task: run.id })).ended
      expect(await runsIn(server(), thread)).toMatchObject([{ id: run.id, status: 'completed', result: 'hello' }])
      const accepted = (await logOf(server(), thread)).filter(({ type }) => type === 'task.accepted')
      expect(accepted).toHaveLength(1)
    }
  })
})

onEachGatedServer(['memory', 'sqlite'], (start) => {
  it('RUN-13 a run outlives a POST whose client gave up while it was being committed, and its key finds it', async () => {
    const server = await start()
    const body = { agent: 'echo', prompt: 'hello' }
    const headers = { 'idempotency-key': 'once' }
    const held = server.hold('accept')
    const request = new RawRequest(server, 'POST', '/v1/threads/t/runs', { body, headers })
    await request.sendAll()
    await held.reached
    request.hangUp()
    held.release()
    const again = await server.request<Task>('POST', '/v1/threads/t/runs', { body, headers })
    expect(again.status).toBe(202)
    expect(again.headers.get('idempotency-replayed')).toBe('true')
    await (await watch('sse', server, { thread: 't', task: again.body.id })).ended
    expect(await runsIn(server, 't')).toMatchObject([{ status: 'completed', result: 'hello' }])
  })
})
