import { expect, it } from 'vitest'
import { type Client, connect, isEndOf, transports, watch } from './harness/client.ts'
import { type GatedServer, onEachGatedServer } from './harness/gated-server.ts'
import { logOf, messagesOf, taskOf } from './harness/reads.ts'
import type { Watcher } from './harness/tape.ts'

const thread = 't'
const cancelledBeforeStart = ['task.accepted', 'message.created', 'message.created', 'task.cancelled']
const cancelledAfterStart = [
  'task.accepted',
  'task.started',
  'message.created',
  'task.cancelling',
  'message.created',
  'task.cancelled',
]

/** What every client knows of a run that has ended: those that watched on each transport, and one that asks now. */
async function endingsOf(server: GatedServer, id: string, watchers: readonly Watcher[]): Promise<unknown[]> {
  const seen = await Promise.all(watchers.map((watcher) => watcher.until(isEndOf(id))))
  const types = seen.map((events) => events.filter(isEndOf(id)).map(({ type }) => type))
  return [...types, [`task.${(await taskOf(server, id)).status}`]]
}

function watchAll(server: GatedServer, task: string): Promise<Watcher[]> {
  return Promise.all(transports.map((transport) => watch(transport, server, { thread, task })))
}

/** A run that is accepted and cannot start, because another thread holds the only slot. */
async function acceptWithoutSlot(server: GatedServer, client: Client): Promise<string> {
  await client.run('other', { agent: 'held', prompt: 'blocker' })
  await server.atWork('blocker')
  const run = await client.run(thread, { agent: 'echo', prompt: 'go' })
  expect(run).toMatchObject({ status: 'pending', attempt: 0 })
  return run.id
}

async function typesOf(server: GatedServer): Promise<string[]> {
  return (await logOf(server, thread)).map(({ type }) => type)
}

onEachGatedServer(['memory', 'sqlite'], (start) => {
  const oneSlot = { HOLDFAST_CONCURRENCY: '1' }

  it.for(transports)(
    'CANC-16 CANC-21 a cancel between accept and claim keeps the run from starting, over %s',
    async (transport) => {
      const server = await start(oneSlot)
      const client = await connect(transport, server)
      const id = await acceptWithoutSlot(server, client)
      const watchers = await watchAll(server, id)
      expect(await client.cancel(thread)).toEqual([id])
      expect(await endingsOf(server, id, watchers)).toEqual([
        ['task.cancelled'],
        ['task.cancelled'],
        ['task.cancelled'],
      ])
      server.finish('blocker')
      const next = await client.run(thread, { agent: 'echo', prompt: 'next' })
      await (await client.watch({ thread, task: next.id })).ended
      expect((await typesOf(server)).slice(0, 4)).toEqual(cancelledBeforeStart)
      expect(await taskOf(server, id)).toMatchObject({ status: 'cancelled', attempt: 0 })
    },
  )

  it.for(transports)(
    'CANC-16 a cancel while the start is being committed reaches the run, over %s',
    async (transport) => {
      const server = await start(oneSlot)
      const client = await connect(transport, server)
      const id = await acceptWithoutSlot(server, client)
      const watchers = await watchAll(server, id)
      const held = server.hold('start')
      server.finish('blocker')
      await held.reached
      const cancelling = client.cancel(thread)
      await client.ping()
      held.release()
      const cancelled = await cancelling
      const [status] = (await endingsOf(server, id, watchers)).at(-1) as [string]
      // An echo that was faster than the cancel is the truth as well, if everybody says so.
      expect(cancelled).toEqual(status === 'task.cancelled' ? [id] : [])
      expect(await endingsOf(server, id, watchers)).toEqual([[status], [status], [status]])
    },
  )

  it.for(transports)(
    'CANC-18 a cancel between claim and first event leaves both messages, over %s',
    async (transport) => {
      const server = await start()
      const client = await connect(transport, server)
      const run = await client.run(thread, { agent: 'held', prompt: 'go' })
      await server.atWork('go')
      const watchers = await watchAll(server, run.id)
      expect(await client.cancel(thread)).toEqual([run.id])
      await endingsOf(server, run.id, watchers)
      expect(await typesOf(server)).toEqual(cancelledAfterStart)
      expect((await messagesOf(server, thread)).map(({ role, finish }) => [role, finish])).toEqual([
        ['user', undefined],
        ['assistant', 'cancelled'],
      ])
    },
  )

  it.for(transports)(
    'CANC-22 a cancel while the end is being committed says that it came too late, over %s',
    async (transport) => {
      const server = await start()
      const client = await connect(transport, server)
      const run = await client.run(thread, { agent: 'held', prompt: 'go' })
      await server.atWork('go')
      const watchers = await watchAll(server, run.id)
      const held = server.hold('end')
      server.finish('go')
      await held.reached
      const cancelling = [client.cancel(thread), client.cancel(thread, { task: run.id })]
      await client.ping()
      held.release()
      expect(await Promise.all(cancelling)).toEqual([[], []])
      const completed = ['task.completed']
      expect(await endingsOf(server, run.id, watchers)).toEqual([completed, completed, completed])
      expect(await typesOf(server)).not.toContain('task.cancelling')
    },
  )

  it.for(transports)(
    'CANC-22 a run that ends while its cancel is being committed is cancelled, over %s',
    async (transport) => {
      const server = await start()
      const client = await connect(transport, server)
      const run = await client.run(thread, { agent: 'held', prompt: 'go' })
      await server.atWork('go')
      const watchers = await watchAll(server, run.id)
      const held = server.hold('cancel')
      const cancelling = client.cancel(thread, { task: run.id })
      await held.reached
      server.finish('go')
      await client.ping()
      held.release()
      expect(await cancelling).toEqual([run.id])
      const cancelled = ['task.cancelled']
      expect(await endingsOf(server, run.id, watchers)).toEqual([cancelled, cancelled, cancelled])
      expect(await taskOf(server, run.id)).not.toHaveProperty('result')
    },
  )

  it.for(transports)('a cancel is answered only when it is in the store, over %s', async (transport) => {
    const server = await start()
    const client = await connect(transport, server)
    const run = await client.run(thread, { agent: 'held', prompt: 'go' })
    await server.atWork('go')
    const held = server.hold('cancel')
    let isAnswered = false
    const cancelling = client.cancel(thread).finally(() => {
      isAnswered = true
    })
    await held.reached
    await client.ping()
    expect(isAnswered).toBe(false)
    expect(await typesOf(server)).not.toContain('task.cancelling')
    expect(await taskOf(server, run.id)).toMatchObject({ status: 'running' })
    expect(await taskOf(server, run.id)).not.toHaveProperty('cancelRequestedAt')
    held.release()
    expect(await cancelling).toEqual([run.id])
  })

  it.for(transports)('a run is answered only when it is in the store, over %s', async (transport) => {
    const server = await start()
    const client = await connect(transport, server)
    const held = server.hold('accept')
    let isAnswered = false
    const accepting = client.run(thread, { agent: 'held', prompt: 'go' }).finally(() => {
      isAnswered = true
    })
    await held.reached
    await client.ping()
    expect(isAnswered).toBe(false)
    expect(await logOf(server, thread)).toEqual([])
    held.release()
    const run = await accepting
    expect(await taskOf(server, run.id)).toMatchObject({ id: run.id })
  })
})
