import { connect, type Socket } from 'node:net'
import { describe, expect, it } from 'vitest'
import type { AgentContext } from '../../../../src/index.ts'
import { type Client, turnUntil } from './client.ts'
import { servedOnEachStore } from './on-each-store.ts'
import { tokens } from './sockets-world.ts'

const mib = 1024 * 1024

/** Says more than the buffers of two sockets hold, unless somebody reads. */
const flood = {
  run: async (ctx: AgentContext) => {
    for (let n = 0; n < 200; n += 1) await ctx.emit('flood', { n, text: 'x'.repeat(100_000) })
  },
}

describe('the limits of a WebSocket', () => {
  servedOnEachStore(['memory', 'sqlite'], (serve) => {
    it('lets at most 1 MiB wait for a reader that takes nothing, and gives it up after 30 s with 1013', async () => {
      const { sockets, runtime, world } = await serve({ agents: { flood } })
      const slow = await sockets.connect()
      const other = await sockets.connect()
      const [socket] = sockets.sockets
      for (const client of [slow, other]) await client.ask({ type: 'attach', id: 1, thread: 't', after: 0 })
      await slow.ask({ type: 'attach', id: 2, thread: 't' })
      slow.ws.pause()
      const { id } = await runtime.as('alice').run({ thread: 't', agent: 'flood', prompt: 'x' })
      expect(await runtime.as('alice').wait(id)).toMatchObject({ status: 'completed' })
      await other.until(({ event }) => (event as { type?: string })?.type === 'task.completed')
      expect(other.events(1).filter(({ type }) => type === 'custom')).toHaveLength(200)
      expect(socket?.writableLength).toBeGreaterThan(0)
      expect(socket?.writableLength).toBeLessThan(mib)
      for (let ms = 0; ms < 29_000; ms += 1000) await world.clock.advance(1000)
      expect(sockets.webSockets.count).toBe(2)
      for (let ms = 0; ms < 12_000; ms += 1000) await world.clock.advance(1000)
      expect(await runtime.as('alice').thread('t')).toMatchObject({ watchers: 1 })
      slow.ws.resume()
      expect(await slow.closed).toMatchObject({ code: 1013 })
      expect(slow.events(1).map(({ seq }) => seq)).toEqual(slow.events(1).map((_, index) => index + 1))
      expect(await other.ask({ type: 'ping', id: 'p' })).toEqual({ type: 'pong', id: 'p' })
      expect(sockets.webSockets.count).toBe(1)
    })

    it('ends the connection of a reader that never comes back', async () => {
      const { sockets, runtime, world } = await serve({ agents: { flood } })
      const slow = await sockets.connect()
      await slow.ask({ type: 'attach', id: 1, thread: 't', after: 0 })
      slow.ws.pause()
      const { id } = await runtime.as('alice').run({ thread: 't', agent: 'flood', prompt: 'x' })
      await runtime.as('alice').wait(id)
      for (let ms = 0; ms < 100_000; ms += 1000) await world.clock.advance(1000)
      await turnUntil(() => sockets.webSockets.count === 0)
      expect(sockets.parts.streams.count).toBe(0)
    })

    it('keeps a reader that is slow but takes', async () => {
      const { sockets, runtime, world } = await serve({ agents: { flood } })
      const slow = await sockets.connect()
      await slow.ask({ type: 'attach', id: 1, thread: 't', after: 0 })
      slow.ws.pause()
      const { id } = await runtime.as('alice').run({ thread: 't', agent: 'flood', prompt: 'x' })
      await runtime.as('alice').wait(id)
      const [socket] = sockets.sockets
      while ((socket?.writableLength ?? 0) > 0) {
        const count = slow.frames.length
        slow.ws.resume()
        await turnUntil(() => slow.frames.length > count + 20 || socket?.writableLength === 0)
        slow.ws.pause()
        await world.clock.advance(12_000)
        expect(sockets.webSockets.count).toBe(1)
      }
      slow.ws.resume()
      await turnUntil(() => slow.events(1).at(-1)?.type === 'task.completed')
      expect(slow.events(1).filter(({ type }) => type === 'custom')).toHaveLength(200)
    })
  })

  servedOnEachStore(['memory'], (serve) => {
    it('takes a frame of 256 KiB, and closes with 1009 on a larger one', async () => {
      const { sockets } = await serve()
      const client = await sockets.connect()
      const frame = JSON.stringify({ type: 'ping', id: 1 })
      client.send(frame.padEnd(256 * 1024, ' '))
      expect(await client.next()).toEqual({ type: 'pong', id: 1 })
      client.send(frame.padEnd(256 * 1024 + 1, ' '))
      expect(await client.closed).toMatchObject({ code: 1009 })
      await turnUntil(() => sockets.webSockets.count === 0)
    })

    it('answers no more than a client reads, however much it asks', async () => {
      const { sockets } = await serve()
      const client = await sockets.connect()
      const [socket] = sockets.sockets
      client.ws.pause()
      const frame = JSON.stringify({ type: 'nonsense', id: 'x'.repeat(100), thread: 'y'.repeat(1000) })
      for (let n = 0; n < 40_000; n += 1) client.send(frame)
      let turns = 0
      await turnUntil(() => {
        expect(socket?.writableLength).toBeLessThan(mib + 2048)
        turns += 1
        return turns > 3000
      })
      expect(client.ws.bufferedAmount).toBeGreaterThan(0)
      client.ws.resume()
      await client.ask({ type: 'ping', id: 'end' })
      expect(client.frames).toHaveLength(40_001)
    }, 60_000)

    it('sends no pongs to a client that reads nothing', async () => {
      const { sockets } = await serve()
      const client = await sockets.connect()
      const [socket] = sockets.sockets
      client.ws.pause()
      for (let n = 0; n < 60_000; n += 1) client.ws.ping('x'.repeat(125))
      await turnUntil(() => client.ws.bufferedAmount === 0)
      expect(socket?.writableLength).toBeLessThan(65 * 1024)
      client.ws.resume()
      expect(await client.ask({ type: 'ping', id: 'end' })).toEqual({ type: 'pong', id: 'end' })
    })

    it('counts attachments as streams, and refuses what is too much', async () => {
      const { sockets } = await serve({ limits: { streamsPerPrincipal: 3 } })
      const client = await sockets.connect()
      for (const thread of ['a', 'b', 'c']) {
        expect(await client.ask({ type: 'attach', id: thread, thread, after: 0 })).toMatchObject({ type: 'attached' })
      }
      const refused = await client.ask({ type: 'attach', id: 'd', thread: 'd', after: 0 })
      const facts = { code: 'limit_reached', status: 429, limit: 'streamsPerPrincipal' }
      expect(refused).toMatchObject({ type: 'error', problem: facts })
      expect(await client.ask({ type: 'attach', id: 2, thread: 'a', after: 0 })).toMatchObject({ type: 'attached' })
      await expect(sockets.connect()).rejects.toThrow('429')
      const bob = await sockets.connect('bob')
      expect(await bob.ask({ type: 'attach', id: 1, thread: 'a', after: 0 })).toMatchObject({ type: 'attached' })
      await client.ask({ type: 'detach', id: 'e', thread: 'b' })
      expect(await client.ask({ type: 'attach', id: 'd', thread: 'd', after: 0 })).toMatchObject({ type: 'attached' })
      await client.close()
      await turnUntil(() => sockets.parts.streams.count === 1)
    })

    it('drops a client that answers no pings, and keeps one that does', async () => {
      const { sockets, world } = await serve()
      const deaf = await sockets.connect('alice', { autoPong: false })
      const alive = await sockets.connect()
      let pings = 0
      deaf.ws.on('ping', () => {
        pings += 1
      })
      for (let ms = 0; ms < 120_000; ms += 1000) await world.clock.advance(1000)
      expect(await deaf.closed).toMatchObject({ code: 1006 })
      expect(pings).toBe(2)
      expect(alive.ws.readyState).toBe(alive.ws.OPEN)
      expect(sockets.webSockets.count).toBe(1)
    })

    it('closes all with 1001 when it drains, ends those that do not answer after a second, and lets nobody in', async () => {
      const { sockets, world } = await serve()
      const clients = [await sockets.connect(), await sockets.connect('bob')]
      const deaf = await rawClient(sockets.port)
      expect(sockets.webSockets.count).toBe(3)
      sockets.webSockets.drain()
      for (const client of clients) expect(await client.closed).toMatchObject({ code: 1001 })
      await turnUntil(() => sockets.webSockets.count === 1)
      await expect(sockets.connect()).rejects.toThrow('503')
      await world.clock.advance(999)
      expect(sockets.webSockets.count).toBe(1)
      await world.clock.advance(1)
      await turnUntil(() => sockets.webSockets.count === 0)
      deaf.destroy()
    })

    it('sets no timer that outlives its connections', async () => {
      const { sockets, world } = await serve()
      const before = world.clock.pendingTimerCount
      const client: Client = await sockets.connect()
      await client.ask({ type: 'attach', id: 1, thread: 't' })
      sockets.webSockets.drain()
      await client.closed
      await turnUntil(() => sockets.webSockets.count === 0)
      expect(world.clock.pendingTimerCount).toBe(before)
    })

    it('sends a snapshot that is larger than all that may wait', async () => {
      const { sockets, runtime } = await serve()
      const alice = runtime.as('alice')
      const say = 'ü'.repeat(60_000)
      for (let n = 0; n < 20; n += 1) {
        await alice.wait((await alice.run({ thread: 't', agent: 'script', input: { script: [{ say }] } })).id)
      }
      const client = await sockets.connect()
      await client.ask({ type: 'attach', id: 1, thread: 't' })
      const snapshot = await client.next()
      const { messages, tasks, head, first } = await alice.thread('t')
      const all = { messages, tasks, head, first, live: [], questions: [] }
      expect(snapshot).toEqual(JSON.parse(JSON.stringify({ type: 'snapshot', id: 1, ...all })))
      expect(client.texts[1]?.length).toBeGreaterThan(mib)
    })
  })
})

/** A client that shakes hands and then never says or answers anything. */
async function rawClient(port: number): Promise<Socket> {
  const socket = connect(port, '127.0.0.1')
  socket.write(
    [
      'GET /v1/ws HTTP/1.1',
      `Host: 127.0.0.1:${port}`,
      'Connection: Upgrade',
      'Upgrade: websocket',
      'Sec-WebSocket-Version: 13',
      'Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==',
      `Authorization: Bearer ${tokens.alice}`,
      '\r\n',
    ].join('\r\n'),
  )
  await new Promise((resolve) => socket.once('data', resolve))
  return socket
}
