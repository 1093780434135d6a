import { describe, expect, it } from 'vitest'
import type { AgentContext } from '../../../../src/index.ts'
import { type Client, type Frame, turnUntil } from './client.ts'
import { type Serve, servedOnEachStore } from './on-each-store.ts'

const mib = 1024 * 1024

/** Says 20 MB in 80 texts, far more than the buffers of two sockets hold; they are one part of one message. */
const talk = async (ctx: AgentContext) => {
  for (let n = 0; n < 80; n += 1) await ctx.say(`${n} ü\u0001${'x'.repeat(250_000)}`)
}

async function talked(serve: Serve) {
  const served = await serve({ agents: { talk } })
  const alice = served.runtime.as('alice')
  await alice.wait((await alice.run({ thread: 't', agent: 'talk', prompt: 'x' })).id)
  const { watchers: _watchers, thread: _thread, ...snapshot } = await alice.thread('t')
  return { ...served, alice, snapshot: JSON.parse(JSON.stringify(snapshot)) as object & { head: number } }
}

/** Attaches, and reads nothing of what follows; resolves when the server can write no more. */
async function attachPaused({ sockets }: Awaited<ReturnType<Serve>>, frames: readonly object[]): Promise<Client> {
  const client = await sockets.connect()
  const socket = sockets.sockets.at(-1)
  client.ws.pause()
  for (const frame of frames) client.send(frame)
  let quietTurns = 0
  let written = 0
  await turnUntil(() => {
    const isQuiet = socket?.writableLength !== 0 && socket?.bytesWritten === written
    written = socket?.bytesWritten ?? 0
    quietTurns = isQuiet ? quietTurns + 1 : 0
    return quietTurns > 100
  })
  return client
}

const isEnd = ({ event }: Frame): boolean => (event as { type?: string })?.type === 'task.completed'

describe('a snapshot that is larger than all that may wait', () => {
  servedOnEachStore(['memory', 'sqlite'], (serve) => {
    it('is made as its reader takes it, and followed by each event after its head once', async () => {
      const world = await talked(serve)
      const { alice, snapshot } = world
      const before = process.memoryUsage().arrayBuffers
      const clients: Client[] = []
      for (let n = 0; n < 2; n += 1) clients.push(await attachPaused(world, [{ type: 'attach', id: 1, thread: 't' }]))
      // Two that were made whole would be 40 MB. What the kernel has taken may not have been collected yet.
      expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(20 * mib)
      const script = Array.from({ length: 50 }, (_, n) => ({ say: `${n}` }))
      await alice.wait((await alice.run({ thread: 't', agent: 'script', input: { script } })).id)
      const { entries } = await alice.logPage('t', { after: snapshot.head, limit: 1000 })
      for (const client of clients) {
        client.ws.resume()
        await client.until(isEnd)
        const [attached, picture, ...rest] = client.frames
        expect(attached).toEqual({ type: 'attached', id: 1, head: snapshot.head })
        expect(picture).toEqual({ type: 'snapshot', id: 1, ...snapshot })
        const events = entries.map(({ text }) => ({ type: 'event', id: 1, event: JSON.parse(text) as unknown }))
        expect(rest).toEqual(events)
      }
    })
  })

  servedOnEachStore(['memory'], (serve) => {
    it('holds up what else is asked of the connection, in order, and mixes with none of it', async () => {
      const world = await talked(serve)
      const client = await attachPaused(world, [
        { type: 'attach', id: 'a', thread: 't' },
        { type: 'ping', id: 'p' },
        { type: 'attach', id: 'u', thread: 'u' },
        { type: 'run', id: 'r', thread: 'u', agent: 'script', prompt: 'x' },
        { type: 'attach', id: 'b', thread: 't' },
        { type: 'nonsense', id: 'n' },
        { type: 'detach', id: 'd', thread: 't' },
        { type: 'ping', id: 'q' },
      ])
      client.ws.resume()
      await client.until(({ id }) => id === 'q')
      await turnUntil(() => client.frames.some(isEnd))
      const told = client.frames.filter(({ type }) => type !== 'event').map(({ type, id }) => `${type} ${id}`)
      expect(told).toEqual([
        'attached a',
        'snapshot a',
        'pong p',
        'attached u',
        'snapshot u',
        'accepted r',
        'attached b',
        'snapshot b',
        'error n',
        'detached d',
        'pong q',
      ])
      const pictures = client.frames.filter(({ type, id }) => type === 'snapshot' && id !== 'u')
      for (const picture of pictures) expect(picture).toEqual({ type: 'snapshot', id: picture.id, ...world.snapshot })
      expect(client.events('u').map(({ seq }) => seq)).toEqual(client.events('u').map((_, index) => index + 1))
    })

    it('comes before what is told of its thread meanwhile', async () => {
      const world = await talked(serve)
      const client = await attachPaused(world, [{ type: 'attach', id: 1, thread: 't' }])
      await world.alice.deleteThread('t')
      client.ws.resume()
      await client.until(({ type }) => type === 'detached' || type === 'error')
      expect(client.frames[1]).toEqual({ type: 'snapshot', id: 1, ...world.snapshot })
      expect(client.frames.slice(2).map(({ type }) => type)).toEqual(['detached'])
    })

    it('is cut short where the server closes, which is told in the middle of it', async () => {
      const world = await talked(serve)
      const client = await attachPaused(world, [{ type: 'attach', id: 1, thread: 't' }])
      const socket = world.sockets.sockets.at(-1)
      world.sockets.webSockets.drain()
      expect(socket?.writableLength).toBeLessThan(mib)
      client.ws.resume()
      expect(await client.closed).toMatchObject({ code: 1001 })
      expect(client.frames.map(({ type }) => type)).toEqual(['attached'])
      expect(world.sockets.parts.streams.count).toBe(0)
    })

    it('is cut short where its reader takes nothing for 30 s', async () => {
      const world = await talked(serve)
      const client = await attachPaused(world, [{ type: 'attach', id: 1, thread: 't' }])
      for (let ms = 0; ms < 42_000; ms += 1000) await world.world.clock.advance(1000)
      client.ws.resume()
      expect(await client.closed).toMatchObject({ code: 1013 })
      expect(client.frames.map(({ type }) => type)).toEqual(['attached'])
    })

    it('is taken in the end by a reader that is slow', async () => {
      const world = await talked(serve)
      const client = await attachPaused(world, [{ type: 'attach', id: 1, thread: 't' }])
      const socket = world.sockets.sockets.at(-1)
      while (client.frames.length < 2) {
        const written = socket?.bytesWritten ?? 0
        client.ws.resume()
        await turnUntil(() => (socket?.bytesWritten ?? 0) > written + 3 * mib || client.frames.length === 2)
        client.ws.pause()
        await world.world.clock.advance(12_000)
        expect(world.sockets.webSockets.count).toBe(1)
      }
      expect(client.frames[1]).toEqual({ type: 'snapshot', id: 1, ...world.snapshot })
    })
  })
})
