import { connect } from 'node:net'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Frame } from './client.ts'
import { servedOnEachStore } from './on-each-store.ts'
import { tokens } from './sockets-world.ts'

const deep = `${'['.repeat(2000)}${']'.repeat(2000)}`

const hostile: readonly string[] = [
  '',
  ' ',
  '{',
  'null',
  '[]',
  '1',
  '"ping"',
  '{}',
  '{"type":"ping","id":1,"id":2}',
  '{"type":"ping","id":1,"extra":1}',
  '{"type":"ping","id":null}',
  '{"type":"ping","id":{}}',
  '{"type":"__proto__","id":1}',
  '{"__proto__":{"type":"ping"},"id":1}',
  '{"type":"toString","id":1}',
  '{"type":["ping"],"id":1}',
  '{"type":"run","id":1}',
  '{"type":"run","id":1,"thread":"t","agent":"script"}',
  '{"type":"run","id":1,"thread":"t","agent":"script","prompt":"a","input":1}',
  '{"type":"run","id":1,"thread":"t","agent":"nobody","prompt":"a"}',
  '{"type":"run","id":1,"thread":"../t","agent":"script","prompt":"a"}',
  '{"type":"run","id":1,"thread":"t","agent":"script","prompt":"a","timeoutMs":-1}',
  '{"type":"run","id":1,"thread":"t","agent":"script","prompt":"a","idempotencyKey":""}',
  `{"type":"run","id":1,"thread":"t","agent":"script","input":${deep}}`,
  '{"type":"attach","id":1}',
  '{"type":"attach","id":1,"thread":""}',
  '{"type":"attach","id":1,"thread":"t","after":1e999}',
  '{"type":"attach","id":1,"thread":"t","types":{}}',
  '{"type":"attach","id":1,"thread":"t","task":"bg_999"}',
  '{"type":"attach","id":1,"thread":"t","task":7}',
  '{"type":"cancel","id":1}',
  '{"type":"cancel","id":1,"task":"bg_0"}',
  '{"type":"cancel","id":1,"thread":"t","task":"bg_999"}',
  '{"type":"cancel","id":1,"thread":"t","scope":"everything"}',
  '{"type":"send","id":1,"thread":"t","content":1}',
  '{"type":"send","id":1,"task":"bg_0","content":1}',
  '{"type":"send","id":1,"thread":"t","task":"bg_0"}',
  '{"type":"answer","id":1,"question":"q"}',
  '{"type":"detach","id":1}',
  `{"type":"ping","id":"${'x'.repeat(5000)}"}`,
]

describe('hostile frames', () => {
  servedOnEachStore(['memory', 'sqlite'], (serve) => {
    it('are refused one by one, and the connection stays open', async () => {
      const { sockets } = await serve()
      const client = await sockets.connect()
      for (const text of hostile) {
        client.send(text)
        const answer = await client.next()
        expect([text, answer.type]).toEqual([text, 'error'])
        const problem = answer['problem'] as { status: number; code: string; requestId: string }
        expect(problem.status).toBeLessThan(500)
        expect(problem.requestId).toMatch(/^[\w-]{8,}$/)
        expect([text, answer.id]).toEqual([text, idIn(text)])
      }
      const ids = client.frames.map(({ problem }) => (problem as { requestId: string }).requestId)
      expect(new Set(ids).size).toBe(hostile.length)
      expect(await client.ask({ type: 'ping', id: 'alive' })).toEqual({ type: 'pong', id: 'alive' })
    })

    it('are refused when they are binary', async () => {
      const { sockets } = await serve()
      const client = await sockets.connect()
      client.ws.send(Buffer.from('{"type":"ping","id":1}'))
      expect(await client.next()).toMatchObject({ type: 'error', problem: { code: 'invalid_request', status: 400 } })
      expect(client.frames[0]).not.toHaveProperty('id')
      expect(await client.ask({ type: 'ping', id: 2 })).toEqual({ type: 'pong', id: 2 })
    })

    it('name the thread, or are refused as if there were no such task', async () => {
      const { sockets, runtime } = await serve()
      const client = await sockets.connect()
      const { id: task } = await runtime
        .as('alice')
        .run({ thread: 't', agent: 'script', input: { script: [{ hang: true }] } })
      const frames = [
        { type: 'attach', task },
        { type: 'attach', task, after: 0 },
        { type: 'cancel', task },
        { type: 'send', task, content: 1 },
      ]
      for (const frame of frames) {
        const elsewhere = await client.ask({ ...frame, id: 1, thread: 'other' })
        const nowhere = await client.ask({ ...frame, id: 1, thread: 'other', task: 'bg_4711' })
        expect(withoutRequestId(elsewhere)).toBe(withoutRequestId(nowhere))
        expect(elsewhere).toMatchObject({ type: 'error', problem: { code: 'not_found', status: 404 } })
      }
      expect(await runtime.as('alice').get(task)).toMatchObject({ status: 'running' })
    })

    it("learn nothing of another principal's tasks, nor of its threads", async () => {
      const { sockets, runtime } = await serve()
      const hang = { script: [{ hang: true }] }
      const { id: task } = await runtime.as('alice').run({ thread: 't', agent: 'script', input: hang })
      const bob = await sockets.connect('bob')
      const frames = [
        { type: 'attach', thread: 't', task },
        { type: 'attach', thread: 't', task, after: 0 },
        { type: 'cancel', thread: 't', task },
        { type: 'send', thread: 't', task, content: 'x' },
      ]
      for (const frame of frames) {
        const foreign = await bob.ask({ ...frame, id: 1 })
        const nobodys = await bob.ask({ ...frame, id: 1, task: 'bg_4711' })
        expect(withoutRequestId(foreign)).toBe(withoutRequestId(nobodys))
        expect(foreign).toMatchObject({ type: 'error', problem: { code: 'not_found' } })
      }
      bob.send({ type: 'attach', id: 2, thread: 't' })
      expect(await bob.next()).toEqual({ type: 'attached', id: 2, head: 0 })
      expect(await bob.next()).toMatchObject({ type: 'snapshot', head: 0, messages: [], tasks: [] })
      expect(await bob.ask({ type: 'cancel', id: 3, thread: 't', scope: 'all' })).toMatchObject({ cancelled: [] })
      expect(await runtime.as('alice').get(task)).toMatchObject({ status: 'running' })
      await runtime.as('alice').cancel(task)
      await runtime.as('alice').wait(task)
      expect((await bob.settled()).filter(({ type }) => type === 'event')).toEqual([])
    })
  })

  servedOnEachStore(['memory'], (serve) => {
    it('of any kind are each answered, with nothing that is our fault', async () => {
      const { sockets } = await serve()
      const client = await sockets.connect()
      const word = fc.constantFrom('run', 'attach', 'detach', 'cancel', 'send', 'answer', 'ping', 'event', '')
      const field = fc.constantFrom('thread', 'task', 'after', 'types', 'agent', 'prompt', 'input', 'content', 'scope')
      const value = fc.oneof(fc.jsonValue({ maxDepth: 3 }), fc.constantFrom('t', 'bg_0', 'script', 'all', 0, -1))
      const frame = fc.record({
        type: fc.oneof(word, fc.jsonValue({ maxDepth: 1 })),
        fields: fc.dictionary(field, value),
      })
      await fc.assert(
        fc.asyncProperty(frame, async ({ type, fields }) => {
          client.send({ ...fields, type, id: 'fuzz' })
          const seen = client.frames.length
          await client.ask({ type: 'ping', id: `after-${seen}` })
          const answers = client.frames.slice(seen).filter(({ id }) => id === 'fuzz')
          expect(answers.length).toBeGreaterThan(0)
          for (const answer of answers) expect(statusOf(answer)).toBeLessThan(500)
        }),
        { numRuns: 1500 },
      )
      expect(client.ws.readyState).toBe(client.ws.OPEN)
    })

    it('that are no frames end their own connection, and no other', async () => {
      const { sockets } = await serve()
      const bystander = await sockets.connect()
      await fc.assert(
        fc.asyncProperty(fc.uint8Array({ minLength: 1, maxLength: 200 }), async (bytes) => {
          const socket = connect(sockets.port, '127.0.0.1')
          const lines = [
            'GET /v1/ws HTTP/1.1',
            `Host: 127.0.0.1:${sockets.port}`,
            'Connection: Upgrade',
            'Upgrade: websocket',
            'Sec-WebSocket-Version: 13',
            'Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==',
            `Authorization: Bearer ${tokens.alice}`,
          ]
          socket.end(Buffer.concat([Buffer.from(`${lines.join('\r\n')}\r\n\r\n`), bytes]))
          let answer = Buffer.alloc(0)
          for await (const chunk of socket) answer = Buffer.concat([answer, chunk as Buffer])
          const frames = answer.subarray(answer.indexOf('\r\n\r\n') + 4)
          // A close frame, if that is all there is, with a code that is not "our fault".
          if (frames[0] === 0x88 && frames.length >= 4) expect(frames.readUInt16BE(2)).not.toBe(1011)
        }),
        { numRuns: 300 },
      )
      expect(await bystander.ask({ type: 'ping', id: 1 })).toEqual({ type: 'pong', id: 1 })
      expect(sockets.webSockets.count).toBe(1)
    })
  })
})

function statusOf(frame: Frame): number {
  return (frame['problem'] as { status: number } | undefined)?.status ?? 200
}

function withoutRequestId(frame: Frame): string {
  const { requestId: _requestId, ...problem } = frame['problem'] as Record<string, unknown>
  return JSON.stringify({ ...frame, problem })
}

function idIn(text: string): unknown {
  try {
    const { id } = (JSON.parse(text) ?? {}) as { id?: unknown }
    return typeof id === 'number' ? id : undefined
  } catch {
    return undefined
  }
}
