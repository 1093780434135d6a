import { expect, it } from 'vitest'
import type { Event } from '../../src/core/event.ts'
import { connect, isEndOf, transports } from './harness/client.ts'
import { freshThread, onSharedServer } from './harness/on-each-server.ts'
import { logOf, messagesOf, scriptRun, taskOf, textOf } from './harness/reads.ts'
import { Socket } from './harness/socket.ts'

const talking = [{ say: 'one ' }, { say: 'two' }, { hang: true }]

function hasSaid(text: string): (event: Event) => boolean {
  return (event) => event.type === 'text.delta' && event.data.text === text
}

function typesOf(events: readonly Event[]): string[] {
  return events.map(({ type }) => type)
}

onSharedServer(['memory', 'sqlite'], (_kind, server) => {
  it.for(transports)('CANC-11 CANC-12 a run cancelled midway over %s keeps its partial output', async (transport) => {
    const thread = freshThread()
    const client = await connect(transport, server())
    const run = await client.run(thread, scriptRun(talking))
    const watcher = await client.watch({ thread, task: run.id })
    await watcher.until(hasSaid('two'))
    expect(await client.cancel(thread)).toEqual([run.id])
    await watcher.ended
    const [, assistant, ...more] = await messagesOf(server(), thread)
    expect(more).toEqual([])
    expect(assistant).toMatchObject({ role: 'assistant', finish: 'cancelled', task: run.id })
    expect(textOf(assistant)).toBe('one two')
    const record = await taskOf(server(), run.id)
    expect(record).toMatchObject({ status: 'cancelled', partial: true, error: { code: 'cancelled' } })
    expect(record.error?.message).toContain('cancelled')
    expect(record.completedAt).toBeTypeOf('number')
    client.drop()
  })

  it.for(transports)('CANC-13 exactly one terminal event reaches subscribers over %s', async (transport) => {
    const thread = freshThread()
    const client = await connect(transport, server())
    const run = await client.run(thread, scriptRun(talking))
    const whole = await client.watch({ thread })
    const own = await client.watch({ thread, task: run.id })
    await own.until(hasSaid('two'))
    for (let asked = 0; asked < 3; asked += 1) await client.cancel(thread, { task: run.id })
    await own.ended
    const next = await client.run(thread, { agent: 'echo', prompt: 'next' })
    const seen = await whole.until(isEndOf(next.id))
    for (const events of [own.events, seen.filter(({ task }) => task === run.id)]) {
      const endings = events.filter(isEndOf(run.id))
      expect(typesOf(endings)).toEqual(['task.cancelled'])
      expect(endings[0]?.data).toMatchObject({ error: { code: 'cancelled' }, partial: true })
      expect(typesOf(events).filter((type) => type === 'task.cancelling')).toHaveLength(1)
      expect(events.at(-1)?.type).toBe('task.cancelled')
    }
    client.drop()
  })

  it('CANC-14 a cancel over a WebSocket reaches a run that was posted, and ends its record', async () => {
    const thread = freshThread()
    const poster = await connect('sse', server())
    const run = await poster.run(thread, scriptRun(talking))
    await (await poster.watch({ thread, task: run.id })).until(hasSaid('two'))
    const socket = await Socket.open(server())
    const answer = await socket.ask({ type: 'cancel', thread, task: run.id })
    expect(answer).toMatchObject({ type: 'cancelled', cancelled: [run.id] })
    const watcher = await poster.watch({ thread, task: run.id })
    await watcher.ended
    expect(await taskOf(server(), run.id)).toMatchObject({ status: 'cancelled', partial: true })
    expect(textOf((await messagesOf(server(), thread)).at(-1))).toBe('one two')
    socket.drop()
    poster.drop()
  })

  it.for(transports)('CANC-15 a cancel by another client is no error to the prompter over %s', async (transport) => {
    const thread = freshThread()
    const [prompter, other] = [await connect(transport, server()), await connect(transport, server())]
    const run = await prompter.run(thread, scriptRun(talking))
    const watchers = [await prompter.watch({ thread }), await other.watch({ thread })]
    for (const watcher of watchers) await watcher.until(hasSaid('two'))
    expect(await other.cancel(thread)).toEqual([run.id])
    for (const watcher of watchers) {
      const seen = await watcher.until(isEndOf(run.id))
      const message = seen.at(-2)
      expect(message?.type === 'message.created' && message.data.message).toMatchObject({
        role: 'assistant',
        finish: 'cancelled',
      })
      expect(typesOf(seen)).not.toContain('task.failed')
    }
    expect(watchers[0]?.events).toEqual(watchers[1]?.events)
    prompter.drop()
    other.drop()
  })

  it.for(transports)('CANC-16 a cancel right after it was accepted is not lost over %s', async (transport) => {
    const client = await connect(transport, server())
    for (let round = 0; round < 20; round += 1) {
      const thread = freshThread()
      const run = await client.run(thread, scriptRun([{ sleepMs: 20_000 }, { say: 'too late' }]))
      expect(await client.cancel(thread)).toEqual([run.id])
      const watcher = await client.watch({ thread, task: run.id })
      await watcher.ended
      expect(typesOf(watcher.events)).not.toContain('text.delta')
      const messages = await messagesOf(server(), thread)
      expect(messages.map(({ role, finish, parts }) => [role, finish, parts.length])).toEqual([
        ['user', undefined, 1],
        ['assistant', 'cancelled', 0],
      ])
    }
    client.drop()
  })

  it.for(transports)(
    'CANC-17 a cancel on an idle thread cancels nothing, and nothing later, over %s',
    async (transport) => {
      const thread = freshThread()
      const client = await connect(transport, server())
      for (const scope of ['runs', 'all']) expect(await client.cancel(thread, { scope })).toEqual([])
      expect(await logOf(server(), thread)).toEqual([])
      const run = await client.run(thread, { agent: 'echo', prompt: 'hello' })
      await (await client.watch({ thread, task: run.id })).ended
      expect(await taskOf(server(), run.id)).toMatchObject({ status: 'completed', result: 'hello' })
      const { length } = await logOf(server(), thread)
      expect(await client.cancel(thread)).toEqual([])
      expect(await client.cancel(thread, { task: run.id })).toEqual([])
      expect(await logOf(server(), thread)).toHaveLength(length)
      client.drop()
    },
  )

  it.for(transports)(
    'CANC-18 a cancel between the start and the first output is said aloud over %s',
    async (transport) => {
      const thread = freshThread()
      const client = await connect(transport, server())
      const run = await client.run(thread, scriptRun([{ hang: true }]))
      const watcher = await client.watch({ thread, task: run.id })
      await watcher.until(({ type }) => type === 'task.started')
      expect(await client.cancel(thread, { task: run.id })).toEqual([run.id])
      await watcher.ended
      expect(typesOf(watcher.events)).toEqual([
        'task.accepted',
        'task.started',
        'message.created',
        'task.cancelling',
        'message.created',
        'task.cancelled',
      ])
      const messages = await messagesOf(server(), thread)
      expect(messages.map(({ role, finish }) => [role, finish])).toEqual([
        ['user', undefined],
        ['assistant', 'cancelled'],
      ])
      client.drop()
    },
  )

  it.for(transports)(
    'CANC-19 a cancel of the thread takes the follow-ups behind the run as well over %s',
    async (transport) => {
      const thread = freshThread()
      const client = await connect(transport, server())
      const runs = [await client.run(thread, scriptRun(talking))]
      for (const prompt of ['second', 'third']) runs.push(await client.run(thread, { agent: 'echo', prompt }))
      const ids = runs.map(({ id }) => id)
      expect(new Set(ids).size).toBe(3)
      expect(runs.map(({ status }) => status).slice(1)).toEqual(['pending', 'pending'])
      const watcher = await client.watch({ thread })
      await watcher.until(hasSaid('two'))
      expect(await client.cancel(thread)).toEqual(ids)
      const after = await client.run(thread, { agent: 'echo', prompt: 'after' })
      const seen = await watcher.until(isEndOf(after.id))
      for (const id of ids) {
        const own = seen.filter(({ task }) => task === id)
        expect(typesOf(own.filter(isEndOf(id)))).toEqual(['task.cancelled'])
        expect(await taskOf(server(), id)).toMatchObject({ status: 'cancelled' })
      }
      for (const id of ids.slice(1)) {
        expect(typesOf(seen.filter(({ task }) => task === id))).toEqual([
          'task.accepted',
          'message.created',
          'message.created',
          'task.cancelled',
        ])
      }
      expect(await taskOf(server(), after.id)).toMatchObject({ status: 'completed' })
      client.drop()
    },
  )

  it.for(transports)('CANC-21 a cancel of a queued run takes effect without starting it over %s', async (transport) => {
    const thread = freshThread()
    const client = await connect(transport, server())
    const active = await client.run(thread, scriptRun(talking))
    const queued = await client.run(thread, { agent: 'echo', prompt: 'queued' })
    const last = await client.run(thread, { agent: 'echo', prompt: 'last' })
    expect(await client.cancel(thread, { task: queued.id })).toEqual([queued.id])
    const watcher = await client.watch({ thread, task: queued.id })
    await watcher.ended
    expect(typesOf(watcher.events)).toEqual(['task.accepted', 'message.created', 'message.created', 'task.cancelled'])
    expect(await taskOf(server(), queued.id)).toMatchObject({ status: 'cancelled', attempt: 0, epoch: 0 })
    expect(await taskOf(server(), active.id)).toMatchObject({ status: 'running' })
    expect(await taskOf(server(), last.id)).toMatchObject({ status: 'pending', position: 0 })
    await client.cancel(thread, { task: active.id })
    await (await client.watch({ thread, task: last.id })).ended
    expect(await taskOf(server(), last.id)).toMatchObject({ status: 'completed' })
    client.drop()
  })
})
