import { afterEach, expect, it } from 'vitest'
import { connect, isEndOf, transports, watch } from './harness/client.ts'
import { ClockedServer } from './harness/clocked-server.ts'
import { logOf, scriptRun } from './harness/reads.ts'
import type { TestServer } from './harness/server.ts'
import type { Watcher } from './harness/tape.ts'
import { openUnread } from './harness/unread-stream.ts'

const kib = 1024
const mib = 1024 * kib
const idleCount = 500
const unreadCount = 20
const eventCount = 300
// 19 MiB in all: far more than what waits for anybody, and more than the kernel keeps for a connection.
const load = scriptRun([{ emit: 'load', payload: { pad: 'x'.repeat(64 * kib) }, times: eventCount }])

let server: ClockedServer | undefined
afterEach(() => server?.end())

/** Opens so many on threads of their own, by turns over each transport. */
function openMany(on: TestServer, count: number): Promise<Watcher[]> {
  return Promise.all(
    Array.from({ length: count }, (_, index) => {
      return watch(index % 2 === 0 ? 'sse' : 'ws', on, { thread: `idle-${index}` })
    }),
  )
}

async function streamCount(on: TestServer): Promise<number> {
  const { text } = await on.request('GET', '/metrics')
  return Number(/^holdfast_streams(?:\{[^}]*\})? (\d+)/m.exec(text)?.[1])
}

async function flood(on: TestServer, thread: string): Promise<void> {
  const client = await connect('sse', on)
  const run = await client.run(thread, load)
  const watcher = await client.watch({ thread, task: run.id })
  await watcher.until(isEndOf(run.id))
}

it('EVNT-07 500 idle streams and 20 that never read cost bounded memory, and nobody else notices', async () => {
  server = await ClockedServer.open({ store: 'sqlite' })
  const on = server
  const openReaders = (thread: string) => Promise.all(transports.map((transport) => watch(transport, on, { thread })))
  // Shows what a load costs by itself: what is kept for those who watch a thread stays.
  const warmReaders = await openReaders('warm')
  await flood(server, 'warm')
  const bare = await server.measure()

  const idle = await openMany(server, idleCount)
  const held = await server.measure()
  expect((held - bare) / idleCount / kib).toBeLessThan(64)

  const kinds = Array.from({ length: unreadCount }, (_, index) => transports[index % 2] ?? 'sse')
  const unread = await Promise.all(kinds.map((transport) => openUnread(transport, on, 'busy')))
  const readers = await openReaders('busy')
  await flood(server, 'busy')
  for (const reader of readers) {
    const seen = await reader.until(({ type }) => type === 'task.completed')
    expect(seen.filter(({ type }) => type === 'custom')).toHaveLength(eventCount)
  }
  const waiting = (await server.measure()) - held
  console.log(
    `${Math.round((held - bare) / idleCount)} bytes per idle stream, ${Math.round(waiting / mib)} MiB waiting`,
  )
  // 1 MiB may wait for each; the whole load for each would be 375.
  expect(waiting / mib).toBeLessThan(2 * unreadCount)

  // Whoever does not read is cut after 30 s, in which nobody else is.
  for (let seconds = 0; seconds < 42; seconds += 6) await server.advance(6000)
  expect(await streamCount(server)).toBe(idleCount + warmReaders.length + readers.length)
  const log = await logOf(server, 'busy')
  for (const [index, stream] of unread.entries()) {
    const transport = kinds[index] ?? 'sse'
    const { events, code } = await stream.readRest()
    if (transport === 'ws') expect(code).toBe(1013)
    expect(events.length).toBeLessThan(log.length)
    const rest = await watch(transport, server, { thread: 'busy', after: events.at(-1)?.seq ?? 0 })
    const resumed = await rest.until(({ seq }) => seq === log.length)
    rest.close()
    expect([...events, ...resumed].map(({ seq }) => seq)).toEqual(log.map(({ seq }) => seq))
  }

  const client = await connect('ws', server)
  const runs = await Promise.all(
    idle.map((_, index) => client.run(`idle-${index}`, { agent: 'echo', prompt: 'hello' })),
  )
  for (const [index, watcher] of idle.entries()) {
    await watcher.until(isEndOf(runs[index]?.id ?? ''))
    watcher.close()
  }
  for (const reader of [...warmReaders, ...readers]) reader.close()
})
