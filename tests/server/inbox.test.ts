import { expect, it } from 'vitest'
import type { Event } from '../../src/core/event.ts'
import { connect, expectStatus, isEndOf, transports, watch } from './harness/client.ts'
import { startLedger } from './harness/ledger.ts'
import { freshThread, onEachServer, onSharedServer } from './harness/on-each-server.ts'
import { logOf, messagesOf, scriptRun, spawnScript, taskOf, textOf } from './harness/reads.ts'
import type { TestServer } from './harness/server.ts'
import { Socket } from './harness/socket.ts'

/** What a task has read, as its `received` events tell. */
function readIn(events: readonly Event[], task: string): unknown[] {
  return events.flatMap((event) =>
    event.task === task && event.type === 'custom' && event.data.name === 'received' ? [event.data.payload] : [],
  )
}

function receiving(count: number): readonly unknown[] {
  return Array.from({ length: count }, () => ({ receive: {} }))
}

async function logOfEnded(server: TestServer, thread: string, task: string): Promise<Event[]> {
  await (await watch('sse', server, { thread, task })).ended
  return logOf(server, thread)
}

onSharedServer(['memory', 'sqlite'], (_kind, server) => {
  it.for(transports)(
    'INBX-09 a message arrives with sender and content, in the order sent, over %s',
    async (transport) => {
      const thread = freshThread()
      const content = { order: ['go', 1, null], deep: { text: 'é\u2028' } }
      const { id } = await spawnScript(server(), thread, receiving(3))
      const client = await connect(transport, server())
      const ids = [await client.send(thread, id, content), await client.send(thread, id, 'second')]
      const socket = await Socket.open(server())
      if (transport === 'ws') await socket.ask({ type: 'send', thread, task: id, content: 'third', from: 'planner' })
      else {
        const body = { content: 'third', from: 'planner' }
        await expectStatus(202, server().request('POST', `/v1/tasks/${id}/messages`, { body }))
      }
      const log = await logOfEnded(server(), thread, id)
      expect(readIn(log, id)).toEqual([{ content }, { content: 'second' }, { from: 'planner', content: 'third' }])
      const accepted = log.filter(({ type }) => type === 'inbox.accepted').map(({ data }) => data)
      expect(accepted.slice(0, 2)).toEqual([
        { id: ids[0], content },
        { id: ids[1], content: 'second' },
      ])
      expect(accepted[2]).toMatchObject({ from: 'planner', content: 'third' })
      client.drop()
      socket.drop()
    },
  )

  it('INBX-10 a send that names a thread which does not own the task is refused', async () => {
    const [thread, other] = [freshThread(), freshThread()]
    const { id } = await spawnScript(server(), thread, receiving(1))
    const client = await connect('ws', server())
    await client.run(other, { agent: 'echo', prompt: 'a' })
    await expect(client.send(other, id, 'hello')).rejects.toMatchObject({ code: 'not_found', status: 404 })
    await client.send(thread, id, 'from here')
    expect(readIn(await logOfEnded(server(), thread, id), id)).toEqual([{ content: 'from here' }])
    client.drop()
  })

  it.for(transports)('INBX-10 to another principal the task is not there, over %s', async (transport) => {
    const thread = freshThread()
    const { id } = await spawnScript(server(), thread, receiving(1))
    const bob = await connect(transport, server(), 'bob')
    await expect(bob.send(thread, id, 'hello')).rejects.toMatchObject({ code: 'not_found', status: 404 })
    expect((await logOf(server(), thread)).map(({ type }) => type)).not.toContain('inbox.accepted')
    bob.drop()
    await (await connect('sse', server())).cancel(thread, { task: id })
  })

  it.for(transports)(
    'INBX-11 a send to an ended task is refused with the status it ended with, over %s',
    async (transport) => {
      const thread = freshThread()
      const client = await connect(transport, server())
      const scripts = { completed: [{ return: 1 }], failed: [{ fail: 'no' }], cancelled: [{ hang: true }] }
      for (const [taskStatus, script] of Object.entries(scripts)) {
        const { id } = await spawnScript(server(), thread, script)
        if (taskStatus === 'cancelled') await client.cancel(thread, { task: id })
        const { length } = await logOfEnded(server(), thread, id)
        const refusal = { code: 'task_terminated', status: 409, problem: { taskStatus } }
        await expect(client.send(thread, id, 'late')).rejects.toMatchObject(refusal)
        expect(await logOf(server(), thread)).toHaveLength(length)
      }
      client.drop()
    },
  )

  it.for(transports)('INBX-12 a send to an unknown task is refused as not found, over %s', async (transport) => {
    const thread = freshThread()
    const client = await connect(transport, server())
    for (const id of ['bg_999999', 'parent', '__proto__', 'constructor']) {
      await expect(client.send(thread, id, 'anyone?')).rejects.toMatchObject({ code: 'not_found', status: 404 })
    }
    expect(await logOf(server(), thread)).toEqual([])
    client.drop()
  })

  it.for(transports)('INBX-13 a send to a task without an inbox is refused, over %s', async (transport) => {
    const thread = freshThread()
    const client = await connect(transport, server())
    const { id } = await spawnScript(server(), thread, [{ hang: true }], { type: 'shell' })
    await expect(client.send(thread, id, 'ls')).rejects.toMatchObject({ code: 'no_inbox', status: 409 })
    await client.cancel(thread, { task: id })
    client.drop()
  })

  it.for(transports)('INBX-14 INBX-15 a message by id never reaches the sibling, over %s', async (transport) => {
    const thread = freshThread()
    const client = await connect(transport, server())
    const script = [{ receive: {} }, { receive: { timeoutMs: 0 } }]
    const [one, two] = [await spawnScript(server(), thread, script), await spawnScript(server(), thread, script)]
    expect(one).not.toHaveProperty('name')
    for (const { id } of [two, one]) await client.send(thread, id, `for ${id}`)
    for (const { id } of [one, two]) {
      expect(readIn(await logOfEnded(server(), thread, id), id)).toEqual([{ content: `for ${id}` }])
    }
    client.drop()
  })

  it.for(transports)('INBX-16 an empty message is delivered, over %s', async (transport) => {
    const thread = freshThread()
    const client = await connect(transport, server())
    const empties = ['', null, {}, [], 0, false]
    const { id } = await spawnScript(server(), thread, receiving(empties.length))
    for (const content of empties) await client.send(thread, id, content)
    const log = await logOfEnded(server(), thread, id)
    expect(readIn(log, id)).toEqual(empties.map((content) => ({ content })))
    client.drop()
  })

  it.for(transports)('INBX-20 steering that a run never read becomes the next run, over %s', async (transport) => {
    const thread = freshThread()
    const client = await connect(transport, server())
    const ledger = await startLedger()
    ledger.hold('work')
    const work = { step: 'work', effect: ledger.url }
    const first = await client.run(thread, scriptRun([{ say: 'working ' }, work, { receive: {} }, { say: 'done' }]))
    const steered = await client.run(thread, { agent: 'echo', prompt: 'read me', onBusy: 'steer' })
    expect(steered).toMatchObject({ id: first.id, steered: expect.any(String) })
    const unread = await client.run(thread, { agent: 'echo', prompt: 'and me', onBusy: 'steer' })
    expect(unread).toMatchObject({ id: first.id })
    ledger.release('work')
    const watcher = await client.watch({ thread })
    const endings = await watcher.until((event) => event.type === 'task.completed' && event.task !== first.id)
    const next = endings.at(-1)?.task ?? ''
    expect(await taskOf(server(), next)).toMatchObject({ status: 'completed', result: 'and me', agent: 'echo' })
    const accepted = endings.find((event) => event.type === 'task.accepted' && event.task === next)
    expect(accepted?.data).toMatchObject({ steered: (unread as { steered?: string }).steered })
    const said = (await messagesOf(server(), thread)).map((message) => [message.role, textOf(message)])
    expect(said).toEqual([
      ['user', ''],
      ['user', 'read me'],
      ['assistant', 'working done'],
      ['user', 'and me'],
      ['assistant', 'and me'],
    ])
    client.drop()
    await ledger.close()
  })
})

onEachServer(['sqlite'], (_kind, start) => {
  it.for(transports)(
    'INBX-20 a message accepted over %s is read once though the process dies before it is',
    async (transport) => {
      const server = await start()
      const client = await connect(transport, server)
      const run = await client.run('t', scriptRun([{ hang: true }, ...receiving(2)]))
      const queued = await client.run('t', scriptRun(receiving(2)))
      for (const content of ['one', 'two']) await client.send('t', queued.id, content)
      await server.restart()
      const again = await connect(transport, server)
      await again.cancel('t', { task: run.id })
      const watcher = await again.watch({ thread: 't' })
      const seen = await watcher.until(isEndOf(queued.id))
      expect(readIn(seen, queued.id)).toEqual([{ content: 'one' }, { content: 'two' }])
      expect(seen.filter(({ type }) => type === 'inbox.accepted')).toHaveLength(2)
      again.drop()
    },
  )
})
