import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { connect, isEndOf, transports } from './harness/client.ts'
import { onEachServer } from './harness/on-each-server.ts'
import { RawRequest } from './harness/raw-request.ts'
import { scriptRun } from './harness/reads.ts'
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
})
