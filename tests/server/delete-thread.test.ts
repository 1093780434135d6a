import { expect, it } from 'vitest'
import type { Task } from '../../src/core/task.ts'
import { connect, expectStatus, isEndOf, transports, watch } from './harness/client.ts'
import { onEachServer } from './harness/on-each-server.ts'
import { read, scriptRun, snapshotOf, spawnScript } from './harness/reads.ts'
import type { TestServer } from './harness/server.ts'

// One marker for each field that can hold something of the thread's content.
const markers = [
  'said',
  'thought',
  'emitted',
  'toolInput',
  'toolOutput',
  'stepValue',
  'mail',
  'from',
  'answered',
  'prompted',
  'described',
  'meta',
  'named',
  'childSaid',
  'keyed',
  'failed',
  'queued',
].map((field) => [field, `marker-of-${field}-5e1f`] as const)
const marker = Object.fromEntries(markers) as Record<string, string>

/** Leaves every marker in a thread, and a run and a task that go on. */
async function fill(server: TestServer, thread: string): Promise<{ live: string; ended: string }> {
  const script = [
    { say: marker['said'] },
    { think: marker['thought'] },
    { emit: 'custom', payload: marker['emitted'] },
    { tool: 'look', input: marker['toolInput'], output: marker['toolOutput'] },
    { step: 'one', value: marker['stepValue'] },
    { spawn: { script: [{ say: marker['childSaid'] }], name: marker['named'], wait: true } },
    { receive: {} },
    { answer: marker['answered'] },
    { hang: true },
  ]
  const body = { ...scriptRun(script), description: marker['described'], metadata: { a: marker['meta'] } }
  const headers = { 'idempotency-key': marker['keyed'] ?? '' }
  const path = `/v1/threads/${thread}/runs`
  const live = await expectStatus(202, server.request<Task>('POST', path, { body, headers }))
  const message = { content: marker['mail'], from: marker['from'] }
  await expectStatus(202, server.request('POST', `/v1/tasks/${live.id}/messages`, { body: message }))
  const client = await connect('sse', server)
  await client.run(thread, { agent: 'echo', prompt: marker['prompted'] })
  await client.run(thread, { agent: 'echo', prompt: marker['queued'] })
  const ended = await spawnScript(server, thread, [{ fail: marker['failed'] }])
  const watcher = await client.watch({ thread })
  await Promise.all([watcher.until(isEndOf(ended.id)), watcher.until(({ type }) => type === 'answer')])
  watcher.close()
  return { live: live.id, ended: ended.id }
}

async function markersLeft(server: TestServer): Promise<string[]> {
  const files = [...(await server.files())]
  return markers.flatMap(([field, text]) =>
    files.filter(([, bytes]) => bytes.includes(text)).map(([path]) => `${field} in ${path}`),
  )
}

onEachServer(['memory', 'sqlite'], (kind, start) => {
  it.for(transports)(
    'a deleted thread ends what lives, shows the endings over %s, and goes on numbering',
    async (transport) => {
      const server = await start()
      const { live, ended } = await fill(server, 't')
      const other = await (await connect('sse', server)).run('other', { agent: 'echo', prompt: 'stays' })
      const { head } = await snapshotOf(server, 't')
      const watcher = await watch(transport, server, { thread: 't', after: head })
      expect(await server.request('DELETE', '/v1/threads/t')).toMatchObject({ status: 204, text: '' })
      await watcher.ended
      expect(watcher.events.filter(isEndOf(live)).map(({ type }) => type)).toEqual(['task.cancelled'])
      const last = watcher.events.at(-1)?.seq ?? 0
      const after = await snapshotOf(server, 't')
      expect(after).toMatchObject({ head: last, first: last + 1, messages: [], tasks: [], live: [] })
      for (const id of [live, ended])
        expect(await server.request('GET', `/v1/tasks/${id}`)).toMatchObject({ status: 404 })
      expect(await read(server, '/v1/threads/t/results')).toEqual({ results: [], running: 0 })
      for (const offset of [0, last - 1]) {
        const gone = watch(transport, server, { thread: 't', after: offset })
        await expect(gone).rejects.toMatchObject({ code: 'offset_gone', status: 410, problem: { first: last + 1 } })
      }
      const next = await (await connect(transport, server)).run('t', { agent: 'echo', prompt: 'again' })
      const again = await watch(transport, server, { thread: 't', after: last })
      expect((await again.until(isEndOf(next.id))).at(0)?.seq).toBe(last + 1)
      again.close()
      expect(await read(server, `/v1/tasks/${other.id}`)).toMatchObject({ status: 'completed' })
    },
  )

  if (kind === 'sqlite') {
    it('a deleted thread leaves no byte of its content in the files, while the server runs and after it', async () => {
      const server = await start()
      await fill(server, 't')
      expect(await markersLeft(server)).not.toEqual([])
      expect(await server.request('DELETE', '/v1/threads/t')).toMatchObject({ status: 204 })
      expect(await markersLeft(server)).toEqual([])
      await server.restart()
      const { head, first } = await snapshotOf(server, 't')
      expect(first).toBe(head + 1)
      expect(await markersLeft(server)).toEqual([])
      await server.stop()
      expect(await markersLeft(server)).toEqual([])
    })
  }

  it('a thread that was never used can be deleted, and stays empty', async () => {
    const server = await start()
    expect(await server.request('DELETE', '/v1/threads/nothing')).toMatchObject({ status: 204 })
    expect(await snapshotOf(server, 'nothing')).toMatchObject({ head: 0, first: 1 })
    expect(await read(server, '/v1/threads')).toEqual({ threads: [] })
  })
})
