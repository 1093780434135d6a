import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { describe, expect, it } from 'vitest'
import type { AgentContext } from '../../src/index.ts'
import { manualClock } from '../../src/testing/manual-clock.ts'
import { getRequest, idsOf, localServer, type Raw, streamRequest, until } from './harness/local-server.ts'

const events = '/v1/threads/t/events'
const mib = 1024 * 1024

/** Says about this much, in pieces of 64 KiB. */
const flood = {
  async run(ctx: AgentContext, bytes: unknown): Promise<void> {
    for (let said = 0; said < Number(bytes); said += 65_536) await ctx.say('x'.repeat(65_536))
  },
}

describe('a stream over a real socket', () => {
  it('is taken up where it broke, at whatever byte it breaks, without a gap or a repeat', async () => {
    const { raw, run, runtime } = await localServer()
    const task = await run('t', [{ emit: 'tick', times: 400 }])
    await runtime.wait(task)
    const { head } = await runtime.thread('t')
    const seen: number[] = []
    for (let cut = 300; seen.at(-1) !== head; cut = (cut * 7) % 9973) {
      const request = getRequest(`${events}?task=${task}`, {
        accept: 'text/event-stream',
        'last-event-id': String(seen.at(-1) ?? 0),
      })
      seen.push(...(await idsBefore(raw(request), cut + 400)))
    }
    expect(seen).toEqual(Array.from({ length: head }, (_, index) => index + 1))
  })

  it('ends when its client leaves, and nothing else does', async () => {
    const { raw, runtime } = await localServer()
    const { id } = await runtime.run({ thread: 't', agent: 'script', input: { script: [{ hang: true }] } })
    const watching = Array.from({ length: 5 }, () => raw(streamRequest(events)))
    for (const { until: received } of watching) await received('task.started')
    expect((await runtime.thread('t')).watchers).toBe(5)
    for (const { socket } of watching) socket.resetAndDestroy()
    await until(async () => (await runtime.thread('t')).watchers === 0)
    expect((await runtime.get(id))?.status).toBe('running')
  })

  it('outlives clients that reset their connection in the middle of a flood', async () => {
    const { raw, runtime, get } = await localServer({ agents: { flood } })
    const watching = Array.from({ length: 10 }, () => raw(streamRequest(events)))
    for (const { until: received } of watching) await received('retry: ')
    const { id } = await runtime.run({ thread: 't', agent: 'flood', input: 4 * mib })
    for (const { until: received, socket } of watching) {
      await received('text.delta')
      socket.resetAndDestroy()
    }
    expect((await runtime.wait(id))?.status).toBe('completed')
    await until(async () => (await runtime.thread('t')).watchers === 0)
    expect((await get('/v1/limits')).status).toBe(200)
  })

  it('holds little for a reader that never reads, and cuts it; others do not notice', async () => {
    const clock = manualClock()
    const { raw, runtime } = await localServer({ clock, agents: { flood } })
    const idle = Array.from({ length: 20 }, () => raw(streamRequest(events)))
    for (const { until: received, socket } of idle) {
      await received('retry: ')
      socket.pause()
    }
    const before = heldBytes()
    const reader = raw(streamRequest(events))
    const { id } = await runtime.run({ thread: 't', agent: 'flood', input: 32 * mib })
    expect((await runtime.wait(id))?.status).toBe('completed')
    await reader.until('task.completed')
    expect(heldBytes() - before).toBeLessThan(idle.length * mib)
    await clock.advance(29_000)
    expect((await runtime.thread('t')).watchers).toBe(21)
    await clock.advance(8_000)
    await until(async () => (await runtime.thread('t')).watchers === 1)
    await Promise.all(
      idle.map(({ socket, closed }) => {
        socket.resume()
        return closed
      }),
    )
    expect(reader.socket.destroyed).toBe(false)
  })

  it('says something at least every 15 s', async () => {
    const clock = manualClock()
    const { raw } = await localServer({ clock })
    const [sse, ndjson] = [raw(streamRequest(events)), raw(getRequest(events, { accept: 'application/x-ndjson' }))]
    await sse.until('retry: ')
    await ndjson.until('\r\n\r\n')
    await clock.advance(15_000)
    await sse.until('3\r\n:\n\n')
    await ndjson.until('1\r\n\n')
  })
})

describe('a server that drains', () => {
  it('ends streams at once, refuses new work, answers reads, and stops when its tasks have ended', async () => {
    const { promise: released, resolve: release } = Promise.withResolvers<void>()
    const { raw, get, run, runtime, server } = await localServer({
      agents: { held: { run: () => released } },
      shutdownMs: 20_000,
    })
    const { id } = await runtime.run({ thread: 't', agent: 'held', prompt: 'wait' })
    await until(async () => (await runtime.get(id))?.status === 'running')
    const stream = raw(streamRequest(events))
    await stream.until('task.started')
    const closed = server.close()
    await stream.until('0\r\n\r\n')
    expect((await get('/readyz')).status).toBe(503)
    const refused = await get(
      '/v1/threads/t/runs',
      { 'content-type': 'application/json' },
      {
        method: 'POST',
        body: JSON.stringify({ agent: 'held', prompt: 'more' }),
      },
    )
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '1'])
    expect(await refused.json()).toMatchObject({ code: 'draining' })
    expect((await get(`/v1/tasks/${id}`)).status).toBe(200)
    await expect(run('t', [])).rejects.toMatchObject({ code: 'draining' })
    release()
    await closed
    await stream.closed
    await expect(get('/healthz')).rejects.toThrow()
  })

  it('sends to its end what it has answered already', async () => {
    const large = { run: async () => 'x'.repeat(7 * mib) }
    const { raw, runtime, server } = await localServer({ agents: { large } })
    const { id } = await runtime.run({ thread: 't', agent: 'large', prompt: 'go' })
    await runtime.wait(id)
    const answer = raw(getRequest(`/v1/tasks/${id}`))
    await answer.until('"result":')
    answer.socket.pause()
    const closed = server.close()
    await until(async () => !(await runtime.readiness()).isReady)
    answer.socket.resume()
    await closed
    await answer.closed
    const [, length] = /content-length: (\d+)/i.exec(answer.text) ?? []
    expect(Number(length)).toBeGreaterThan(7 * mib)
    expect(answer.text.length - answer.text.indexOf('\r\n\r\n') - 4).toBe(Number(length))
  })

  it('does not wait for long for a reader that never reads', async () => {
    const { raw, runtime, server } = await localServer({ agents: { flood } })
    const idle = raw(streamRequest(events))
    await idle.until('retry: ')
    idle.socket.pause()
    const { id } = await runtime.run({ thread: 't', agent: 'flood', input: 16 * mib })
    await runtime.wait(id)
    await server.close()
  })

  it('does not wait for a client that is in the middle of its request', async () => {
    const { raw, server } = await localServer()
    const half = raw('POST /v1/login HTTP/1.1\r\nHost: 127.0.0.1\r\nExpect: 100-continue\r\nContent-Length: 99\r\n\r\n')
    await half.until('100 Continue')
    await server.close()
    await half.closed
  })

  it('closes once, however often it is asked', async () => {
    const { server } = await localServer()
    await Promise.all([server.close(), server.close()])
    await server.close()
  })
})

/** What buffers hold once garbage is gone. */
function heldBytes(): number {
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as () => void
  collect()
  return process.memoryUsage().arrayBuffers
}

/** Hangs up after so many bytes, and tells the ids of the whole frames among them. */
async function idsBefore({ socket, closed }: Raw, bytes: number): Promise<number[]> {
  let text = ''
  socket.removeAllListeners('data')
  socket.on('data', (chunk: string) => {
    text += chunk
    if (text.length < bytes) return
    text = text.slice(0, bytes)
    socket.resetAndDestroy()
  })
  const ended = new Promise<void>((resolve) => {
    socket.on('data', () => {
      if (text.endsWith('0\r\n\r\n')) resolve()
    })
  })
  await Promise.race([closed, ended])
  socket.destroy()
  return idsOf(dechunked(text))
}

/** The body of a chunked answer, as far as it came. */
function dechunked(text: string): string {
  let rest = text.slice(text.indexOf('\r\n\r\n') + 4)
  let body = ''
  for (let header = /^([0-9a-f]+)\r\n/.exec(rest); header; header = /^([0-9a-f]+)\r\n/.exec(rest)) {
    const length = Number.parseInt(header[1] ?? '', 16)
    const start = header[0].length
    body += rest.slice(start, start + length)
    rest = rest.slice(start + length + 2)
  }
  return body
}
