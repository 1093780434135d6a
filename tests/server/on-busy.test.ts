import { expect, it } from 'vitest'
import { connect, isEndOf, transports } from './harness/client.ts'
import { freshThread, onSharedServer } from './harness/on-each-server.ts'
import { messagesOf, scriptRun, spawnScript, taskOf, textOf } from './harness/reads.ts'

const untilTold = [{ say: 'working ' }, { receive: {} }, { say: 'told' }]
const forever = [{ say: 'working ' }, { hang: true }]

onSharedServer(['memory', 'sqlite'], (_kind, server) => {
  it.for(transports)(
    'a queued run says how many start before it, and starts in its turn, over %s',
    async (transport) => {
      const thread = freshThread()
      const client = await connect(transport, server())
      const active = await client.run(thread, scriptRun(forever))
      const queued = []
      for (const prompt of ['a', 'b', 'c']) queued.push(await client.run(thread, { agent: 'echo', prompt }))
      expect(queued.map(({ status, position }) => [status, position])).toEqual([
        ['pending', 0],
        ['pending', 1],
        ['pending', 2],
      ])
      await client.cancel(thread, { task: active.id })
      const watcher = await client.watch({ thread })
      const seen = await watcher.until(isEndOf(queued[2]?.id ?? ''))
      const started = seen.filter(({ type }) => type === 'task.started').map(({ task }) => task)
      expect(started).toEqual([active.id, ...queued.map(({ id }) => id)])
      expect(await taskOf(server(), queued[0]?.id ?? '')).not.toHaveProperty('position')
      client.drop()
    },
  )

  it.for(transports)('steering enters the conversation when it is read, over %s', async (transport) => {
    const thread = freshThread()
    const client = await connect(transport, server())
    const run = await client.run(thread, scriptRun(untilTold))
    const watcher = await client.watch({ thread, task: run.id })
    await watcher.until(({ type }) => type === 'text.delta')
    const steered = await client.run(thread, { agent: 'echo', prompt: 'this way', onBusy: 'steer' })
    expect(steered).toMatchObject({ id: run.id, steered: expect.any(String) })
    await watcher.ended
    const said = (await messagesOf(server(), thread)).map((message) => [message.role, textOf(message)])
    expect(said).toEqual([
      ['user', ''],
      ['user', 'this way'],
      ['assistant', 'working told'],
    ])
    const idle = await client.run(thread, { agent: 'echo', prompt: 'nobody is busy', onBusy: 'steer' })
    expect(idle.id).not.toBe(run.id)
    expect(idle).not.toHaveProperty('steered')
    await expect(client.run(thread, { agent: 'echo', input: 1, onBusy: 'steer' })).rejects.toMatchObject({
      code: 'invalid_input',
      status: 422,
    })
    client.drop()
  })

  it.for(transports)(
    'steering that nobody read is listed and cancelled with the thread, over %s',
    async (transport) => {
      const thread = freshThread()
      const client = await connect(transport, server())
      const run = await client.run(thread, scriptRun(forever))
      const watcher = await client.watch({ thread })
      await watcher.until(({ type }) => type === 'text.delta')
      await client.run(thread, { agent: 'echo', prompt: 'unread', onBusy: 'steer' })
      const cancelled = await client.cancel(thread)
      expect(cancelled).toHaveLength(2)
      expect(cancelled[0]).toBe(run.id)
      for (const id of cancelled) {
        await watcher.until(isEndOf(id))
        expect(await taskOf(server(), id)).toMatchObject({ status: 'cancelled' })
      }
      expect((await messagesOf(server(), thread)).map(textOf)).toContain('unread')
      client.drop()
    },
  )

  it.for(transports)('an interrupt cancels what is before it and runs, over %s', async (transport) => {
    const thread = freshThread()
    const client = await connect(transport, server())
    const before = [
      await client.run(thread, scriptRun(forever)),
      await client.run(thread, { agent: 'echo', prompt: 'queued' }),
    ]
    const urgent = await client.run(thread, { agent: 'echo', prompt: 'urgent', onBusy: 'interrupt' })
    expect(urgent).toMatchObject({ interrupted: before.map(({ id }) => id) })
    const watcher = await client.watch({ thread })
    const seen = await watcher.until(isEndOf(urgent.id))
    const endings = seen.filter((event) => isEndOf(event.task ?? '')(event))
    expect(endings.at(-1)).toMatchObject({ task: urgent.id, type: 'task.completed' })
    for (const { id } of before) expect(await taskOf(server(), id)).toMatchObject({ status: 'cancelled' })
    client.drop()
  })

  it.for(transports)('a run that will not wait is refused while the thread is busy, over %s', async (transport) => {
    const thread = freshThread()
    const client = await connect(transport, server())
    const body = { agent: 'echo', prompt: 'now or never', onBusy: 'reject' }
    const active = await client.run(thread, scriptRun(forever))
    await expect(client.run(thread, body)).rejects.toMatchObject({ code: 'busy', status: 409 })
    const watcher = await client.watch({ thread, task: active.id })
    await client.cancel(thread)
    await watcher.ended
    expect(await client.run(thread, body)).toMatchObject({ type: 'run' })
    client.drop()
  })

  it.for(transports)(
    'the end of a detached task wakes the thread whose run asked for it, over %s',
    async (transport) => {
      const thread = freshThread()
      const client = await connect(transport, server())
      const child = { script: [{ receive: {} }, { return: 7 }], name: 'late', detached: true }
      const run = await client.run(thread, scriptRun([{ spawn: child }, { say: 'on its way' }], { onResult: 'wake' }))
      const watcher = await client.watch({ thread })
      const seen = await watcher.until(isEndOf(run.id))
      const late = seen.find((event) => event.type === 'task.accepted' && event.task !== run.id)?.task ?? ''
      await client.send(thread, late, 'go on')
      const woken = await watcher.until((event) => event.type === 'custom' && event.data.name === 'woken')
      expect(woken.at(-1)?.data).toMatchObject({ payload: { tasks: [late] } })
      const task = woken.at(-1)?.task ?? ''
      expect(await taskOf(server(), task)).toMatchObject({ type: 'run', metadata: { wakes: [late] } })
      expect((await messagesOf(server(), thread)).map(({ role }) => role)).toEqual(['user', 'assistant', 'system'])
      client.drop()
    },
  )

  it.for(transports)(
    'a task under an ended or a foreign parent is refused, as %s tells that it ended',
    async (transport) => {
      const thread = freshThread()
      const client = await connect(transport, server())
      const parent = await spawnScript(server(), thread, [{ return: 1 }])
      await (await client.watch({ thread, task: parent.id })).ended
      await expect(spawnScript(server(), thread, [], { parent: parent.id })).rejects.toMatchObject({
        code: 'task_terminated',
        status: 409,
        problem: { taskStatus: 'completed' },
      })
      const elsewhere = await spawnScript(server(), freshThread(), [{ hang: true }])
      await expect(spawnScript(server(), thread, [], { parent: elsewhere.id })).rejects.toMatchObject({ status: 404 })
      await client.cancel(elsewhere.thread, { task: elsewhere.id })
      client.drop()
    },
  )
})
