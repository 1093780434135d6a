import { expect, it } from 'vitest'
import type { Task } from '../../src/core/task.ts'
import { connect, transports, watch } from './harness/client.ts'
import { freshThread, onEachServer, onSharedServer } from './harness/on-each-server.ts'
import { logOf, read, spawnScript, taskOf } from './harness/reads.ts'

const waiting = [{ hang: true }]

onSharedServer(['memory', 'sqlite'], (_kind, server) => {
  it('NAME-01 parent, self, all and broadcast are reserved', async () => {
    const thread = freshThread()
    for (const name of ['parent', 'self', 'all', 'broadcast']) {
      const spawning = spawnScript(server(), thread, waiting, { name })
      await expect(spawning).rejects.toMatchObject({ code: 'reserved_name', status: 422 })
    }
    for (const name of ['', 'a b', 'a/b', 'a\nb', 'é', 'x'.repeat(65)]) {
      const spawning = spawnScript(server(), thread, waiting, { name })
      await expect(spawning).rejects.toMatchObject({ code: 'invalid_request', status: 400 })
    }
    expect(await logOf(server(), thread)).toEqual([])
    expect((await spawnScript(server(), thread, [], { name: 'x'.repeat(64) })).name).toBe('x'.repeat(64))
  })

  it('NAME-02 two live tasks of one thread cannot share a name', async () => {
    const thread = freshThread()
    const first = await spawnScript(server(), thread, waiting, { name: 'scout' })
    const second = spawnScript(server(), thread, waiting, { name: 'scout' })
    await expect(second).rejects.toMatchObject({ code: 'name_taken', status: 409 })
    const racing = await Promise.allSettled(
      Array.from({ length: 10 }, () => spawnScript(server(), thread, waiting, { name: 'racer' })),
    )
    expect(racing.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
    const path = `/v1/tasks?thread=${thread}&name=scout`
    expect((await read<{ tasks: Task[] }>(server(), path)).tasks.map(({ id }) => id)).toEqual([first.id])
    await (await connect('sse', server())).cancel(thread, { scope: 'all' })
  })

  it.for(transports)('NAME-03 a name is free again once its task has ended, as %s tells', async (transport) => {
    const thread = freshThread()
    const first = await spawnScript(server(), thread, waiting, { name: 'scout' })
    const client = await connect(transport, server())
    const watcher = await client.watch({ thread, task: first.id })
    await client.cancel(thread, { task: first.id })
    await watcher.ended
    const second = await spawnScript(server(), thread, waiting, { name: 'scout' })
    expect(second.id).not.toBe(first.id)
    expect(await taskOf(server(), first.id)).toMatchObject({ name: 'scout', status: 'cancelled' })
    await client.cancel(thread, { scope: 'all' })
    client.drop()
  })

  it('NAME-04 two threads, and two principals, may use one name at the same time', async () => {
    const [thread, other] = [freshThread(), freshThread()]
    const tasks = [
      await spawnScript(server(), thread, waiting, { name: 'scout' }),
      await spawnScript(server(), other, waiting, { name: 'scout' }),
    ]
    expect(tasks.map(({ status }) => status)).toEqual(['running', 'running'])
    const body = { agent: 'script', input: { script: waiting }, name: 'scout' }
    const theirs = await server().request('POST', `/v1/threads/${thread}/tasks`, { body, as: 'bob' })
    expect(theirs.status).toBe(202)
    for (const used of [thread, other]) await (await connect('sse', server())).cancel(used, { scope: 'all' })
  })

  it('LIFE-08 an unknown id is answered 404 on every route', async () => {
    for (const id of ['bg_999999', 'nobody', '__proto__', 'bg_0%00', '..', '%2e%2e', 'x'.repeat(400)]) {
      for (const path of [`/v1/tasks/${encodeURIComponent(id)}`, `/v1/tasks/${encodeURIComponent(id)}/nothing`]) {
        const answer = await server().request<{ code: string }>('GET', path)
        expect([answer.status, answer.body?.code]).toEqual([404, 'not_found'])
      }
      const cancel = await server().request('POST', `/v1/tasks/${encodeURIComponent(id)}/cancel`, { body: {} })
      expect(cancel).toMatchObject({ status: 404, body: { code: 'not_found' } })
    }
    const unknown = watch('ws', server(), { thread: freshThread(), task: 'bg_999999' })
    await expect(unknown).rejects.toMatchObject({ code: 'not_found' })
  })

  it('a known path with another method is answered 405, and says which methods it knows', async () => {
    for (const [method, path] of [
      ['PUT', '/v1/tasks/bg_1'],
      ['GET', '/v1/tasks/bg_1/cancel'],
      ['DELETE', '/v1/tasks'],
      ['POST', '/v1/threads/t/events'],
    ] as const) {
      const answer = await server().request(method, path)
      expect(answer).toMatchObject({ status: 405, body: { code: 'method_not_allowed' } })
      expect(answer.headers.get('allow')).toBeTruthy()
    }
  })
})

onEachServer(['memory', 'sqlite'], (kind, start) => {
  it('LIFE-09 ids are bg_0, bg_1, bg_2 over threads, principals, routes and restarts', async () => {
    const server = await start()
    const ids: string[] = []
    const accept = async (path: string, as: string) => {
      const body = { agent: 'echo', prompt: 'a' }
      ids.push((await server.request<Task>('POST', path, { body, as })).body.id)
    }
    await accept('/v1/threads/a/runs', 'alice')
    await accept('/v1/threads/b/tasks', 'bob')
    await accept('/v1/threads/a/tasks', 'alice')
    expect(ids).toEqual(['bg_0', 'bg_1', 'bg_2'])
    await Promise.all(Array.from({ length: 20 }, (_, n) => accept(`/v1/threads/t${n}/runs`, 'bob')))
    expect(new Set(ids).size).toBe(23)
    if (kind === 'memory') return
    await server.restart()
    await accept('/v1/threads/a/runs', 'alice')
    const numbers = ids.map((id) => Number(/^bg_(\d+)$/.exec(id)?.[1]))
    expect(numbers.at(-1)).toBeGreaterThan(Math.max(...numbers.slice(0, -1)))
  })

  it('LIFE-09 ids are random where that is asked for', async () => {
    const server = await start({ env: { HOLDFAST_IDS: 'random' } })
    const tasks = [await spawnScript(server, 't', []), await spawnScript(server, 't', [])]
    for (const { id } of tasks) {
      expect(id).not.toMatch(/^bg_\d+$/)
      expect(await taskOf(server, id)).toMatchObject({ id })
    }
  })
})
