import { describe, expect, it } from 'vitest'
import type { AgentContext, Runtime } from '../../../../src/index.ts'
import { turnUntil } from './client.ts'
import { servedOnEachStore } from './on-each-store.ts'

const hello = { script: [{ say: 'hello' }] }

const flood = {
  run: async (ctx: AgentContext) => {
    for (let n = 0; n < 200; n += 1) await ctx.emit('flood', { n, text: 'x'.repeat(100_000) })
  },
}

async function runIn(runtime: Runtime, thread: string): Promise<string> {
  const { id } = await runtime.run({ thread, agent: 'script', input: hello })
  await runtime.wait(id)
  return id
}

const isEnd = (frame: { readonly [field: string]: unknown }) =>
  (frame['event'] as { type?: string } | undefined)?.type === 'task.completed'

describe('watch', () => {
  servedOnEachStore(['memory', 'sqlite'], (serve) => {
    it('gives what happens in all threads of the principal from then on, each thread in order', async () => {
      const { sockets, runtime } = await serve()
      const alice = runtime.as('alice')
      await runIn(alice, 'before')
      const client = await sockets.connect()
      expect(await client.ask({ type: 'watch', id: 'w' })).toEqual({ type: 'watching', id: 'w' })
      for (const thread of ['one', 'two', 'one']) await runIn(alice, thread)
      await turnUntil(() => client.frames.filter(isEnd).length === 3)
      for (const thread of ['one', 'two']) {
        const { entries } = await alice.logPage(thread, { limit: 1000 })
        const frames = entries.map(({ text }) => `{"type":"event","id":"w","event":${text}}`)
        expect(client.texts.filter((text) => text.includes(`"thread":"${thread}"`))).toEqual(frames)
      }
      expect(client.texts.some((text) => text.includes('before'))).toBe(false)
    })

    it('gives nothing of another principal, in a thread of the same id either', async () => {
      const { sockets, runtime } = await serve()
      const client = await sockets.connect('alice')
      await client.ask({ type: 'watch', id: 'w' })
      await runIn(runtime.as('bob'), 't')
      await runIn(runtime.as('bob'), 'secret')
      expect(await client.settled()).toEqual([{ type: 'watching', id: 'w' }])
      const own = await runIn(runtime.as('alice'), 't')
      await client.until(isEnd)
      expect(new Set(client.events('w').map(({ task }) => task))).toEqual(new Set([own]))
    })

    it('gives only the types that are asked for, as a list or with commas between', async () => {
      const { sockets, runtime } = await serve()
      const client = await sockets.connect()
      for (const types of [['task.completed', 'text.delta'], 'task.completed,text.delta']) {
        const id = JSON.stringify(types)
        await client.ask({ type: 'watch', id, types })
        await runIn(runtime.as('alice'), 't')
        await client.until(isEnd)
        expect(client.events(id).map(({ type }) => type)).toEqual(['text.delta', 'task.completed'])
      }
    })

    it('replaces the watch before it, and nothing comes under the old id any more', async () => {
      const { sockets, runtime } = await serve()
      const client = await sockets.connect()
      await client.ask({ type: 'watch', id: 1 })
      expect(await client.ask({ type: 'watch', id: 2 })).toEqual({ type: 'watching', id: 2 })
      await runIn(runtime.as('alice'), 't')
      await client.until(isEnd)
      expect(client.events(1)).toEqual([])
      expect(client.events(2).map(({ seq }) => seq)).toEqual(client.events(2).map((_, index) => index + 1))
      expect(sockets.parts.streams.count).toBe(1)
    })

    it('ends with unwatch, which may be said without one', async () => {
      const { sockets, runtime } = await serve()
      const client = await sockets.connect()
      expect(await client.ask({ type: 'unwatch', id: 0 })).toEqual({ type: 'unwatched', id: 0 })
      await client.ask({ type: 'watch', id: 1 })
      expect(await client.ask({ type: 'unwatch', id: 2 })).toEqual({ type: 'unwatched', id: 2 })
      await runIn(runtime.as('alice'), 't')
      await client.settled()
      expect(client.events(1)).toEqual([])
    })

    it('stands beside attachments, which a detach of a thread and an unwatch leave alone', async () => {
      const { sockets, runtime } = await serve()
      const client = await sockets.connect()
      await client.ask({ type: 'attach', id: 'a', thread: 't', after: 0 })
      await client.ask({ type: 'watch', id: 'w' })
      await runIn(runtime.as('alice'), 't')
      await turnUntil(() => client.frames.filter(isEnd).length === 2)
      expect(client.events('w')).toEqual(client.events('a'))
      await client.ask({ type: 'unwatch', id: 'u' })
      await runIn(runtime.as('alice'), 't')
      await client.until(({ id, ...frame }) => id === 'a' && isEnd(frame))
      expect(client.events('w').length).toBeLessThan(client.events('a').length)
    })

    it('lets a slow reader wait for what is in the store, and holds at most 1 MiB for it', async () => {
      const { sockets, runtime } = await serve({ agents: { flood } })
      const slow = await sockets.connect()
      await slow.ask({ type: 'watch', id: 1 })
      slow.ws.pause()
      const alice = runtime.as('alice')
      const { id } = await alice.run({ thread: 't', agent: 'flood', prompt: 'x' })
      expect(await alice.wait(id)).toMatchObject({ status: 'completed' })
      const [socket] = sockets.sockets
      expect(socket?.writableLength).toBeGreaterThan(0)
      expect(socket?.writableLength).toBeLessThan(1024 * 1024)
      slow.ws.resume()
      await turnUntil(() => slow.events(1).at(-1)?.type === 'task.completed')
      expect(slow.events(1).map(({ seq }) => seq)).toEqual(slow.events(1).map((_, index) => index + 1))
    })
  })

  servedOnEachStore(['memory'], (serve) => {
    it.each([
      [{ types: [] }, 'types'],
      [{ types: [''] }, 'types'],
      [{ types: 'a,,b' }, 'types'],
      [{ types: 7 }, 'types'],
      [{ thread: 't' }, 'thread'],
    ])('is refused with %j, and the watch before it stands', async (fields, path) => {
      const { sockets, runtime } = await serve()
      const client = await sockets.connect()
      await client.ask({ type: 'watch', id: 1 })
      const refused = await client.ask({ type: 'watch', id: 2, ...fields })
      expect(refused).toMatchObject({ type: 'error', problem: { code: 'invalid_request' } })
      expect(JSON.stringify(refused)).toContain(path)
      await runIn(runtime.as('alice'), 't')
      await client.until(isEnd)
      expect(client.events(1).length).toBeGreaterThan(0)
    })

    it('takes a place among the streams of the principal, beside the first attachment', async () => {
      const { sockets } = await serve({ limits: { streamsPerPrincipal: 2 } })
      const client = await sockets.connect()
      await client.ask({ type: 'attach', id: 1, thread: 't', after: 0 })
      await client.ask({ type: 'watch', id: 2 })
      expect(sockets.parts.streams.count).toBe(2)
      const refused = await client.ask({ type: 'attach', id: 3, thread: 'u', after: 0 })
      expect(refused).toMatchObject({ type: 'error', problem: { code: 'limit_reached' } })
      expect(await client.ask({ type: 'watch', id: 4 })).toEqual({ type: 'watching', id: 4 })
      await client.ask({ type: 'unwatch', id: 5 })
      expect(sockets.parts.streams.count).toBe(1)
    })

    it('closes with 1001 when the server drains, and lets go of everything', async () => {
      const { sockets } = await serve()
      const client = await sockets.connect()
      await client.ask({ type: 'watch', id: 1 })
      sockets.webSockets.drain()
      expect(await client.closed).toMatchObject({ code: 1001 })
      await turnUntil(() => sockets.webSockets.count === 0)
      expect(sockets.parts.streams.count).toBe(0)
    })
  })
})
