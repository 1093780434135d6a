import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { type Client, connect, isEndOf, transports } from './harness/client.ts'
import { onEachServer } from './harness/on-each-server.ts'
import { RawRequest } from './harness/raw-request.ts'
import { logOf, scriptRun, snapshotOf } from './harness/reads.ts'
import type { TestServer } from './harness/server.ts'
import { Socket } from './harness/socket.ts'

const mib = 1024 * 1024

/** The most memory a process has used so far; Linux alone tells. */
function peakBytes(pid: number): number {
  const [, kilobytes = ''] = /^VmHWM:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? []
  return Number(kilobytes) * 1024
}

async function neverRead(transport: string, server: TestServer): Promise<() => void> {
  if (transport === 'ws') {
    const socket = await Socket.open(server)
    await socket.ask({ type: 'attach', thread: 't', after: 0 })
    socket.pause()
    return () => socket.drop()
  }
  const request = new RawRequest(server, 'GET', '/v1/threads/t/events', {
    headers: { accept: 'text/event-stream' },
  })
  await request.sendAll()
  await request.answered()
  request.pause()
  return () => request.hangUp()
}

onEachServer(['memory', 'sqlite'], (_kind, start) => {
  it.skipIf(process.platform !== 'linux').for(transports)(
    'EVNT-07 clients that never read over %s cost bounded memory and slow nobody',
    async (transport) => {
      const server = await start()
      const client = await connect(transport, server)
      const pad = 'x'.repeat(64 * 1024)
      const load = scriptRun([{ emit: 'load', payload: { pad }, times: 400 }])
      // The first load shows what it costs by itself, as a heap that has grown for it stays. It is replayed to each from
      // the store; what is live is shared among those who wait for it, and would be there once.
      const first = await client.run('t', load)
      await (await client.watch({ thread: 't', task: first.id })).ended
      const before = peakBytes(server.pid)
      const leaving = await Promise.all(Array.from({ length: 30 }, () => neverRead(transport, server)))
      const reader = await client.watch({ thread: 't' })
      const second = await client.run('t', load)
      const seen = await reader.until(isEndOf(second.id))
      expect(seen.filter(({ type }) => type === 'custom')).toHaveLength(800)
      // 25 MiB or more for each of the 30 would be 750.
      expect((peakBytes(server.pid) - before) / mib).toBeLessThan(400)
      for (const leave of leaving) leave()
      client.drop()
    },
  )

  it.skipIf(process.platform !== 'linux')('clients that do not read a large snapshot share what it costs', async () => {
    const server = await start()
    const client = await connect('sse', server)
    const text = 'x'.repeat(220_000)
    const talk = scriptRun([{ say: `${text}ü` }, { say: text }, { say: text }, { say: text }])
    for (let n = 0; n < 8; n += 1) await ended(client, await client.run('t', talk))
    const { thread: _thread, watchers: _watchers, ...snapshot } = await snapshotOf(server, 't')
    // A first reader shows what the reading costs by itself.
    const first = await attachPaused(server, 1)
    const before = peakBytes(server.pid)
    const sockets = await attachPaused(server, 20)
    // 28 MB for each of the 20 would be 560.
    expect((peakBytes(server.pid) - before) / mib).toBeLessThan(400)
    await ended(client, await client.run('t', scriptRun([{ say: 'one' }, { say: 'two' }])))
    const log = (await logOf(server, 't')).slice(snapshot.head)
    // The last ones: the first may have read nothing for so long that they are cut.
    for (const socket of sockets.slice(-2)) {
      socket.resume()
      await socket.until(({ event }) => event?.seq === log.at(-1)?.seq)
      const [attached, picture, ...rest] = socket.frames
      const { id } = attached ?? {}
      expect(attached).toEqual({ type: 'attached', id, head: snapshot.head })
      expect(picture).toEqual({ type: 'snapshot', id, ...snapshot })
      expect(rest).toEqual(log.map((event) => ({ type: 'event', id, event })))
    }
    for (const socket of [...first, ...sockets]) socket.drop()
    client.drop()
  })
})

async function ended(client: Client, { id }: { readonly id: string }): Promise<void> {
  await (await client.watch({ thread: 't', task: id })).ended
}

/** They are announced, and read nothing of what follows. One after the other, as what is read for each is large. */
async function attachPaused(server: TestServer, count: number): Promise<Socket[]> {
  const sockets: Socket[] = []
  while (sockets.length < count) {
    const socket = await Socket.open(server)
    await socket.ask({ type: 'attach', thread: 't' })
    socket.pause()
    sockets.push(socket)
  }
  return sockets
}
