import { expect, it } from 'vitest'
import { connect, expectStatus, watch } from './harness/client.ts'
import { freshThread, onEachServer, onSharedServer } from './harness/on-each-server.ts'
import { RawRequest } from './harness/raw-request.ts'
import { resultsOf, spawnScript, taskOf } from './harness/reads.ts'
import type { TestServer } from './harness/server.ts'

const untilTold = [{ receive: {} }, { answer: 'the last reply' }]

async function finish(server: TestServer, thread: string, task: string): Promise<void> {
  const client = await connect('sse', server)
  await client.send(thread, task, 'go on')
  await ended(server, thread, task)
}

async function ended(server: TestServer, thread: string, task: string): Promise<void> {
  const watcher = await watch('sse', server, { thread, task })
  await watcher.ended
}

async function collect(server: TestServer, thread: string, tasks: readonly string[]): Promise<readonly string[]> {
  const path = `/v1/threads/${thread}/results/collect`
  const answer = server.request<{ collected: string[] }>('POST', path, { body: { tasks } })
  return (await expectStatus(200, answer)).collected
}

onSharedServer(['memory', 'sqlite'], (_kind, server) => {
  it('TRCK-01 TRCK-03 polling drops no running task, and the poll after its end has the answer', async () => {
    const thread = freshThread()
    const { id } = await spawnScript(server(), thread, untilTold)
    for (let polls = 0; polls < 3; polls += 1) {
      expect(await resultsOf(server(), thread)).toEqual({ results: [], running: 1 })
    }
    expect(await collect(server(), thread, [id])).toEqual([])
    expect(await taskOf(server(), id)).toMatchObject({ status: 'running' })
    await finish(server(), thread, id)
    const results = [{ task: id, status: 'completed', answer: 'the last reply' }]
    expect(await resultsOf(server(), thread)).toEqual({ results, running: 0 })
  })

  it('TRCK-02 collected results are gone, running tasks stay, and other threads are left alone', async () => {
    const [thread, other] = [freshThread(), freshThread()]
    const [a, b, c] = await Promise.all([untilTold, untilTold, untilTold].map((s) => spawnScript(server(), thread, s)))
    const elsewhere = await spawnScript(server(), other, [{ return: 1 }])
    await ended(server(), other, elsewhere.id)
    for (const task of [a, b]) await finish(server(), thread, task?.id ?? '')
    expect((await resultsOf(server(), thread)).running).toBe(1)
    const ids = [a?.id ?? '', c?.id ?? '', elsewhere.id, 'bg_999999', a?.id ?? '']
    expect(await collect(server(), thread, ids)).toEqual([a?.id])
    const { results, running } = await resultsOf(server(), thread)
    expect([results.map(({ task }) => task), running]).toEqual([[b?.id], 1])
    expect((await resultsOf(server(), other)).results).toHaveLength(1)
    await (await connect('sse', server())).cancel(thread, { scope: 'all' })
  })

  it('TRCK-04 when all have been collected nothing is kept for the thread', async () => {
    const thread = freshThread()
    const tasks = await Promise.all([[{ return: 1 }], [{ fail: 'no' }]].map((s) => spawnScript(server(), thread, s)))
    for (const { id } of tasks) await ended(server(), thread, id)
    const ids = tasks.map(({ id }) => id)
    expect((await collect(server(), thread, ids)).toSorted()).toEqual(ids.toSorted())
    expect(await resultsOf(server(), thread)).toEqual({ results: [], running: 0 })
    expect(await collect(server(), thread, ids)).toEqual([])
    for (const id of ids) expect((await taskOf(server(), id)).completedAt).toBeTypeOf('number')
  })

  it('TRCK-06 a result whose reader broke off is handed out again, until it is collected', async () => {
    const thread = freshThread()
    const { id } = await spawnScript(server(), thread, [{ return: { a: 1 } }])
    await ended(server(), thread, id)
    const request = new RawRequest(server(), 'GET', `/v1/threads/${thread}/results`)
    await request.sendAll()
    await request.answered()
    request.hangUp()
    const handed = await resultsOf(server(), thread)
    expect(handed.results).toEqual([{ task: id, status: 'completed', answer: { a: 1 } }])
    expect(await resultsOf(server(), thread)).toEqual(handed)
    expect(await collect(server(), thread, [id])).toEqual([id])
    expect((await resultsOf(server(), thread)).results).toEqual([])
  })

  it('runs are no results, and a result that a parent waited for is taken', async () => {
    const thread = freshThread()
    const client = await connect('sse', server())
    const run = await client.run(thread, { agent: 'echo', prompt: 'a' })
    await ended(server(), thread, run.id)
    const parent = await spawnScript(server(), thread, [{ spawn: { script: [{ return: 1 }], wait: true } }])
    await ended(server(), thread, parent.id)
    expect((await resultsOf(server(), thread)).results.map(({ task }) => task)).toEqual([parent.id])
  })
})

onEachServer(['memory', 'sqlite'], (kind, start) => {
  it('TRCK-05 every way a task can end marks it done with its answer or its error', async () => {
    const server = await start({ env: { HOLDFAST_GRACE_MS: '50' } })
    const thread = freshThread()
    const scripts: Record<string, readonly unknown[]> = {
      returning: [{ return: { a: 1 } }],
      answering: [{ answer: 'first' }, { answer: 'last' }],
      saying: [{ say: 'hello' }],
      failing: [{ fail: 'bad luck' }],
      cancelled: [{ hang: true }],
      forced: [{ hang: 'hard' }],
      timed: [{ hang: true }],
    }
    const ids: Record<string, string> = {}
    for (const [name, script] of Object.entries(scripts)) {
      const timeout = name === 'timed' ? { timeoutMs: 20 } : {}
      ids[name] = (await spawnScript(server, thread, script, { name, ...timeout })).id
    }
    const client = await connect('sse', server)
    for (const name of ['cancelled', 'forced']) await client.cancel(thread, { task: ids[name] ?? '' })
    for (const id of Object.values(ids)) await ended(server, thread, id)
    const { results, running } = await resultsOf(server, thread)
    expect(running).toBe(0)
    const outcomes = Object.entries(ids).map(([name, id]) => {
      const result = results.find(({ task }) => task === id)
      return [name, result?.status, result?.answer ?? result?.error?.code]
    })
    expect(outcomes).toEqual([
      ['returning', 'completed', { a: 1 }],
      ['answering', 'completed', 'last'],
      ['saying', 'completed', { said: 'hello' }],
      ['failing', 'failed', 'agent_error'],
      ['cancelled', 'cancelled', 'cancelled'],
      ['forced', 'cancelled', 'cancelled'],
      ['timed', 'failed', 'timeout'],
    ])
  })

  if (kind !== 'memory') {
    it('TRCK-05 a task that brings its process down again and again ends as poisoned', async () => {
      const server = await start()
      const { id } = await spawnScript(server, 't', [{ hang: true }])
      for (let crashes = 0; crashes < 3; crashes += 1) {
        const watcher = await watch('sse', server, { thread: 't' })
        await watcher.until(({ type, data }) => isStart(type) && (data as { attempt: number }).attempt === crashes + 1)
        await server.restart()
      }
      await ended(server, 't', id)
      const { results, running } = await resultsOf(server, 't')
      expect(running).toBe(0)
      expect(results).toMatchObject([{ task: id, status: 'failed', error: { code: 'poisoned' } }])
    })
  }
})

function isStart(type: string): boolean {
  return type === 'task.started' || type === 'task.resumed'
}
