import { expect, it } from 'vitest'
import type { Event } from '../../src/core/event.ts'
import { connect, isEndOf, transports, watch } from './harness/client.ts'
import { onEachGatedServer } from './harness/gated-server.ts'
import { freshThread, onSharedServer } from './harness/on-each-server.ts'
import { RawRequest } from './harness/raw-request.ts'
import { scriptRun, snapshotOf } from './harness/reads.ts'
import type { TestServer } from './harness/server.ts'
import { Socket } from './harness/socket.ts'
import type { Watcher } from './harness/tape.ts'

async function endedRun(server: TestServer): Promise<{ thread: string; id: string; head: number }> {
  const thread = freshThread()
  const client = await connect('sse', server)
  const run = await client.run(thread, { agent: 'echo', prompt: 'hello' })
  await (await client.watch({ thread, task: run.id })).ended
  return { thread, id: run.id, head: (await snapshotOf(server, thread)).head }
}

onEachGatedServer(['memory', 'sqlite'], (start) => {
  it.for(transports)(
    'a client that attaches while the run ends gets the ending exactly once, over %s',
    async (transport) => {
      const server = await start()
      const client = await connect(transport, server)
      const run = await client.run('t', { agent: 'held', prompt: 'go' })
      await server.atWork('go')
      const held = server.hold('end')
      server.finish('go')
      await held.reached
      const during = [
        await watch(transport, server, { thread: 't' }),
        await watch(transport, server, { thread: 't', task: run.id }),
      ]
      // Some are under way when the end is committed, before and after.
      const around = Array.from({ length: 10 }, () => watch(transport, server, { thread: 't', task: run.id }))
      held.release()
      around.push(...Array.from({ length: 10 }, () => watch(transport, server, { thread: 't', task: run.id })))
      for (const watcher of [...during, ...(await Promise.all(around))]) {
        const seen = await watcher.until(isEndOf(run.id))
        expect(seen.map(({ type }) => type)).toEqual([
          'task.accepted',
          'task.started',
          'message.created',
          'task.completed',
        ])
      }
      for (const watcher of await Promise.all(around)) expect(await watcher.ended).toEqual({ by: 'end' })
      const next = await client.run('t', { agent: 'echo', prompt: 'next' })
      expect((await during[0]?.until(isEndOf(next.id)))?.filter(isEndOf(run.id))).toHaveLength(1)
    },
  )
})

onSharedServer(['memory', 'sqlite'], (_kind, server) => {
  it.for(transports)(
    'a client that attaches after the run has ended gets the ending from the log, over %s',
    async (transport) => {
      const { thread, id, head } = await endedRun(server())
      for (const after of [0, 1, head - 1]) {
        const watcher: Watcher = await watch(transport, server(), { thread, task: id, after })
        expect(await watcher.ended).toEqual({ by: 'end' })
        expect(watcher.events.filter(isEndOf(id))).toHaveLength(1)
        expect(watcher.events.at(-1)?.seq).toBe(head)
      }
      const behind = await watch(transport, server(), { thread, task: id, after: head })
      expect(await behind.ended).toEqual({ by: 'end' })
      expect(behind.events).toEqual([])
    },
  )

  it('an EventSource on an ended task is answered 204, which stops it; NDJSON is empty', async () => {
    const { thread, id, head } = await endedRun(server())
    const path = `/v1/threads/${thread}/events?task=${id}`
    const headers = { accept: 'text/event-stream', 'last-event-id': String(head) }
    const sse = await server().request('GET', path, { headers })
    expect([sse.status, sse.text]).toEqual([204, ''])
    const lines = await server().request('GET', `${path}&after=${head}`, {
      headers: { accept: 'application/x-ndjson' },
    })
    expect([lines.status, lines.text]).toEqual([200, ''])
    const page = await server().request('GET', `${path}&after=${head}`)
    expect(page.body).toEqual({ events: [], head, next: head })
  })

  it('a stream opens with retry, and each frame is an id and one data line', async () => {
    const { thread, id } = await endedRun(server())
    const path = `/v1/threads/${thread}/events?task=${id}`
    const answer = await server().request('GET', path, { headers: { accept: 'text/event-stream' } })
    expect(answer.headers.get('content-type')).toMatch(/^text\/event-stream\b/)
    const [retry, ...frames] = answer.text.split('\n\n')
    expect(retry).toBe('retry: 1000')
    expect(frames.pop()).toBe('')
    for (const [index, frame] of frames.entries()) {
      const [idLine, dataLine, ...more] = frame.split('\n')
      expect(more).toEqual([])
      expect(idLine).toBe(`id: ${index + 1}`)
      expect((JSON.parse(dataLine?.replace(/^data: /, '') ?? '') as Event).seq).toBe(index + 1)
    }
  })

  it('an attach without a number sends the snapshot first, and then what follows its head', async () => {
    const thread = freshThread()
    const client = await connect('ws', server())
    const run = await client.run(thread, scriptRun([{ say: 'so far' }, { receive: {} }, { say: ' more' }]))
    await (await client.watch({ thread })).until(({ type }) => type === 'text.delta')
    const socket = await Socket.open(server())
    const id = socket.follow({ type: 'attach', thread })
    await socket.until(({ type }) => type === 'snapshot')
    await client.send(thread, run.id, 'go on')
    await socket.until(({ event }) => event !== undefined && isEndOf(run.id)(event))
    const frames = socket.frames.filter((frame) => frame.id === id)
    const [attached, snapshot, ...events] = frames
    expect([attached?.type, snapshot?.type]).toEqual(['attached', 'snapshot'])
    expect(snapshot).toMatchObject({
      head: attached?.['head'],
      first: 1,
      tasks: [{ id: run.id, status: 'running' }],
      live: [{ task: run.id, parts: [{ type: 'text', text: 'so far' }] }],
      questions: [],
    })
    const head = snapshot?.['head'] as number
    expect(events.map(({ event }) => event?.seq)).toEqual(events.map((_frame, index) => head + 1 + index))
    socket.drop()
    client.drop()
  })

  it('a second attach replaces the first, a detach ends it, and the socket stays open after a refusal', async () => {
    const { thread, head } = await endedRun(server())
    const socket = await Socket.open(server())
    const first = socket.follow({ type: 'attach', thread, after: head })
    const second = socket.follow({ type: 'attach', thread, after: head })
    const client = await connect('ws', server())
    const run = await client.run(thread, { agent: 'echo', prompt: 'again' })
    await socket.until(({ event }) => event !== undefined && isEndOf(run.id)(event))
    const eventsOf = (attach: string) => socket.frames.filter((frame) => frame.id === attach && frame.type === 'event')
    expect(eventsOf(first)).toEqual([])
    expect(eventsOf(second).length).toBeGreaterThan(0)
    expect(await socket.ask({ type: 'detach', thread })).toMatchObject({ type: 'detached' })
    const { length } = eventsOf(second)
    const last = await client.run(thread, { agent: 'echo', prompt: 'unseen' })
    await (await client.watch({ thread, task: last.id })).ended
    await expect(socket.ask({ type: 'attach', thread, task: 'bg_none' })).rejects.toMatchObject({ code: 'not_found' })
    expect(eventsOf(second)).toHaveLength(length)
    await expect(socket.ask({ type: 'what' })).rejects.toMatchObject({ code: 'invalid_request' })
    expect(await socket.ask({ type: 'ping' })).toMatchObject({ type: 'pong' })
    socket.drop()
    client.drop()
  })

  it.for(['', '-1', '1.5', '1e3', '0x1', ' 1', '+1', '9007199254740992', '99999999999999999999', 'NaN', 'abc', '١'])(
    'an offset of %j is refused with 400',
    async (offset) => {
      const { thread } = await endedRun(server())
      const refusal = { status: 400, body: { code: 'invalid_request' } }
      const path = `/v1/threads/${thread}/events`
      for (const accept of ['text/event-stream', 'application/x-ndjson', 'application/json']) {
        const query = `${path}?after=${encodeURIComponent(offset)}`
        expect(await server().request('GET', query, { headers: { accept } })).toMatchObject(refusal)
        // A header is trimmed and holds no characters beyond Latin-1 on its way.
        if (offset.trim() !== offset || offset === '١') continue
        const request = new RawRequest(server(), 'GET', path, {
          headers: { accept, 'last-event-id': offset, connection: 'close' },
        })
        await request.sendAll()
        expect(await request.closed()).toMatch(/^HTTP\/1.1 400 /)
      }
    },
  )

  it('a doubled offset is refused with 400, in the query and in the header', async () => {
    const { thread } = await endedRun(server())
    const path = `/v1/threads/${thread}/events`
    for (const accept of ['text/event-stream', 'application/json']) {
      const doubled = await server().request('GET', `${path}?after=1&after=1`, { headers: { accept } })
      expect(doubled).toMatchObject({ status: 400, body: { code: 'invalid_request' } })
      const headers = { accept, 'last-event-id': '1, 1' }
      expect(await server().request('GET', path, { headers })).toMatchObject({ status: 400 })
    }
  })

  it.for(transports)(
    'an offset ahead, as one of another thread is, is refused with the head, over %s',
    async (transport) => {
      const { thread, id, head } = await endedRun(server())
      for (const after of [head + 1, 9_007_199_254_740_991]) {
        const refusal = { code: 'offset_ahead', status: 409, problem: { head } }
        await expect(watch(transport, server(), { thread, after })).rejects.toMatchObject(refusal)
        await expect(watch(transport, server(), { thread, task: id, after })).rejects.toMatchObject(refusal)
      }
      const unused = watch(transport, server(), { thread: freshThread(), after: head })
      await expect(unused).rejects.toMatchObject({ code: 'offset_ahead', problem: { head: 0 } })
      const page = await server().request('GET', `/v1/threads/${thread}/events?after=${head + 1}`)
      expect(page).toMatchObject({ status: 409, body: { code: 'offset_ahead', head } })
    },
  )

  it('Last-Event-ID wins over after', async () => {
    const { thread, id, head } = await endedRun(server())
    const headers = { accept: 'text/event-stream', 'last-event-id': String(head - 1) }
    const answer = await server().request('GET', `/v1/threads/${thread}/events?task=${id}&after=0`, { headers })
    expect(answer.text.match(/^id: \d+$/gm)).toEqual([`id: ${head}`])
  })

  it.for([-1, 1.5, '1', null, 2 ** 53])('a WebSocket attach after %j is refused', async (after) => {
    const { thread } = await endedRun(server())
    const socket = await Socket.open(server())
    await expect(socket.ask({ type: 'attach', thread, after })).rejects.toMatchObject({ code: 'invalid_request' })
    socket.drop()
  })
})
