import { describe, expect, it } from 'vitest'
import type { AgentContext } from '../../../../src/index.ts'
import { heldAgent } from '../../../scenarios/held-agent.ts'
import type { Frame } from './client.ts'
import { servedOnEachStore } from './on-each-store.ts'
import { tokens } from './sockets-world.ts'

const hang = { script: [{ hang: true }] }

function problemOf(frame: Frame): Record<string, unknown> {
  expect(frame.type).toBe('error')
  return frame['problem'] as Record<string, unknown>
}

function taskOf(frame: Frame): { id: string; status: string; [field: string]: unknown } {
  expect(frame.type).toBe('accepted')
  return frame['task'] as { id: string; status: string }
}

describe('the frames of a WebSocket', () => {
  servedOnEachStore(['memory', 'sqlite'], (serve) => {
    it('answers a run with the accepted task, as HTTP does', async () => {
      const { runtime, sockets } = await serve()
      const client = await sockets.connect()
      const frame = { type: 'run', id: 'r1', thread: 't', agent: 'script', prompt: 'hello', metadata: { a: 1 } }
      const accepted = await client.ask(frame)
      const task = taskOf(accepted)
      expect(Object.keys(accepted)).toEqual(['type', 'id', 'task'])
      expect(task).toMatchObject({
        thread: 't',
        type: 'run',
        agent: 'script',
        description: 'hello',
        metadata: { a: 1 },
      })
      expect(await runtime.as('alice').wait(task.id)).toMatchObject({ status: 'completed', result: { said: 'hello' } })
      expect(await runtime.as('bob').get(task.id)).toBeUndefined()
    })

    it('answers the same run under the same key with the same task, and says so', async () => {
      const { sockets } = await serve()
      const client = await sockets.connect()
      const run = { type: 'run', thread: 't', agent: 'script', input: hang, idempotencyKey: 'k' }
      const first = await client.ask({ ...run, id: 1 })
      const second = await client.ask({ ...run, id: 2 })
      expect(first).not.toHaveProperty('replayed')
      expect(second).toMatchObject({ type: 'accepted', id: 2, replayed: true })
      expect(taskOf(second)).not.toHaveProperty('isReplayed')
      expect(taskOf(second).id).toBe(taskOf(first).id)
      const other = await client.ask({ ...run, id: 3, agent: 'script', input: { script: [] } })
      expect(problemOf(other)).toMatchObject({ code: 'idempotency_conflict', status: 409 })
    })

    it('steers, interrupts and rejects a run as onBusy says', async () => {
      const { sockets } = await serve({ agents: { held: heldAgent() } })
      const client = await sockets.connect()
      const run = { type: 'run', thread: 't', agent: 'held' }
      const active = taskOf(await client.ask({ ...run, id: 1, prompt: 'first' }))
      const steered = taskOf(await client.ask({ ...run, id: 2, prompt: 'more', onBusy: 'steer' }))
      expect(steered).toMatchObject({ id: active.id, steered: expect.any(String) })
      expect(problemOf(await client.ask({ ...run, id: 3, prompt: 'x', onBusy: 'reject' }))).toMatchObject({
        code: 'busy',
      })
      const next = taskOf(await client.ask({ ...run, id: 4, prompt: 'second', onBusy: 'interrupt' }))
      expect(next['interrupted']).toContain(active.id)
    })

    it('cancels a run, a queue, or one task, and answers with what had not ended', async () => {
      const { runtime, sockets } = await serve()
      const client = await sockets.connect()
      const run = { type: 'run', thread: 't', agent: 'script', input: hang }
      const first = taskOf(await client.ask({ ...run, id: 1 }))
      const second = taskOf(await client.ask({ ...run, id: 2 }))
      const third = taskOf(await client.ask({ ...run, id: 3 }))
      const one = await client.ask({ type: 'cancel', id: 4, thread: 't', task: second.id })
      expect(one).toEqual({ type: 'cancelled', id: 4, cancelled: [second.id] })
      const ended = await client.ask({ type: 'cancel', id: 5, thread: 't', task: second.id })
      expect(ended).toEqual({ type: 'cancelled', id: 5, cancelled: [] })
      const rest = await client.ask({ type: 'cancel', id: 6, thread: 't', reason: 'enough' })
      expect(rest).toEqual({ type: 'cancelled', id: 6, cancelled: [first.id, third.id] })
      expect(await runtime.as('alice').wait(first.id)).toMatchObject({ status: 'cancelled' })
      expect(await client.ask({ type: 'cancel', id: 7, thread: 't' })).toEqual({
        type: 'cancelled',
        id: 7,
        cancelled: [],
      })
    })

    it('cancels detached tasks only with the scope all', async () => {
      const { runtime, sockets } = await serve()
      const client = await sockets.connect()
      const task = await runtime.as('alice').spawn({ thread: 't', agent: 'script', input: hang })
      expect(await client.ask({ type: 'cancel', id: 1, thread: 't' })).toMatchObject({ cancelled: [] })
      expect(await client.ask({ type: 'cancel', id: 2, thread: 't', scope: 'all' })).toMatchObject({
        cancelled: [task.id],
      })
      expect(await runtime.as('alice').wait(task.id)).toMatchObject({ status: 'cancelled' })
    })

    it('sends a message to a task, and says what its id is', async () => {
      const { runtime, sockets } = await serve()
      const client = await sockets.connect()
      const script = [{ receive: {} }]
      const task = taskOf(await client.ask({ type: 'run', id: 1, thread: 't', agent: 'script', input: { script } }))
      const content = { text: 'U+2028 \u2028 NUL \0 ESC \u001b[2J' }
      const sent = await client.ask({ type: 'send', id: 2, thread: 't', task: task.id, content, from: 'me' })
      expect(sent).toEqual({ type: 'sent', id: 2, messageId: expect.any(String) })
      await runtime.as('alice').wait(task.id)
      await client.ask({ type: 'attach', id: 3, thread: 't', after: 0 })
      await client.until(({ event }) => (event as { type?: string })?.type === 'task.completed')
      const events = client.frames.map(({ event }) => event as { type: string; data: unknown } | undefined)
      const received = events.find((event) => event?.type === 'custom')
      expect(received?.data).toEqual({ name: 'received', payload: { from: 'me', content } })
      const late = await client.ask({ type: 'send', id: 4, thread: 't', task: task.id, content })
      expect(problemOf(late)).toMatchObject({ code: 'task_terminated', status: 409, taskStatus: 'completed' })
    })

    it('refuses to send to a task that has no inbox', async () => {
      const { runtime, sockets } = await serve()
      const client = await sockets.connect()
      const task = await runtime.as('alice').spawn({ thread: 't', agent: 'script', input: hang, type: 'index' })
      const answer = await client.ask({ type: 'send', id: 1, thread: 't', task: task.id, content: 1 })
      expect(problemOf(answer)).toMatchObject({ code: 'no_inbox', status: 409 })
    })

    it('runs in the trace of the request that opened it, unless that names none', async () => {
      const trace = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01'
      const { runtime, sockets } = await serve({ agents: { traced: (ctx: AgentContext) => ctx.traceparent ?? 'none' } })
      for (const [traceparent, result] of [
        [trace, trace],
        ['nonsense', 'none'],
      ]) {
        const authorization = `Bearer ${tokens.alice}`
        const client = await sockets.connect('alice', { headers: { authorization, traceparent: traceparent ?? '' } })
        const task = taskOf(await client.ask({ type: 'run', id: 1, thread: 't', agent: 'traced', prompt: 'x' }))
        expect(await runtime.as('alice').wait(task.id)).toMatchObject({ result })
      }
    })

    it('answers a ping, and a question that nobody asked', async () => {
      const { sockets } = await serve()
      const client = await sockets.connect()
      for (const id of [0, 1.5, -1, '', 'x'.repeat(1024)]) {
        expect(await client.ask({ type: 'ping', id })).toEqual({ type: 'pong', id })
      }
      const answer = await client.ask({ type: 'answer', id: 'a', question: 'q_1', answer: 'yes' })
      expect(problemOf(answer)).toMatchObject({ code: 'not_found', status: 404 })
    })

    it('answers in the order in which it was asked', async () => {
      const { sockets } = await serve()
      const client = await sockets.connect()
      const types = ['run', 'ping', 'cancel', 'nonsense', 'ping', 'run', 'attach', 'ping', 'detach', 'cancel']
      for (let id = 0; id < 100; id += 1) {
        const type = types[id % types.length]
        const rest = type === 'run' ? { thread: 't', agent: 'script', input: hang } : { thread: 't' }
        client.send({ type, id, ...(type === 'ping' ? {} : rest) })
      }
      await client.until(({ id }) => id === 99)
      const answers = client.frames.filter(({ type }) => type !== 'event' && type !== 'snapshot')
      expect(answers.map(({ id }) => id)).toEqual(Array.from({ length: 100 }, (_, id) => id))
    })

    it('handles what came before the close, though nobody hears the answer', async () => {
      const { runtime, sockets } = await serve()
      const client = await sockets.connect()
      const task = taskOf(await client.ask({ type: 'run', id: 1, thread: 't', agent: 'script', input: hang }))
      client.send({ type: 'run', id: 2, thread: 'u', agent: 'script', input: hang })
      client.send({ type: 'cancel', id: 3, thread: 't' })
      await client.close()
      expect(await runtime.as('alice').wait(task.id)).toMatchObject({ status: 'cancelled' })
      expect((await runtime.as('alice').list({ thread: 'u' })).tasks).toHaveLength(1)
    })

    it('cancels nothing when it is closed or torn', async () => {
      const { runtime, sockets, world } = await serve({ agents: { held: heldAgent() } })
      for (const leave of ['close', 'terminate'] as const) {
        const client = await sockets.connect()
        const frame = { type: 'run', id: 1, thread: leave, agent: 'held', prompt: leave }
        const task = taskOf(await client.ask(frame))
        await client.ask({ type: 'attach', id: 2, thread: leave, task: task.id })
        client.ws[leave]()
        await client.closed
        await world.quiet()
        expect(await runtime.as('alice').get(task.id)).toMatchObject({ status: 'running' })
        expect(await runtime.as('alice').thread(leave)).toMatchObject({ watchers: 0 })
      }
      expect(sockets.webSockets.count).toBe(0)
      expect(sockets.parts.streams.count).toBe(0)
    })
  })
})
