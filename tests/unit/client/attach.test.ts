import { describe, expect, it, onTestFinished } from 'vitest'
import { isHoldfastError } from '../../../src/client/index.ts'
import { brief, clientWorld, grow, take } from './client-world.ts'
import { event } from './events.ts'

describe.each(['websocket', 'sse'] as const)('attaching over %s', (transport) => {
  it('begins with a snapshot, which says what it is, and goes on after its head', async () => {
    const { client, server } = clientWorld({ transport }, 3)
    const items = client.thread('t').attach()
    expect(brief(await take(items, 1))).toEqual(['snapshot at 3'])
    const next = take(items, 2)
    grow(server, 2)
    expect(brief(await next)).toEqual([4, 5])
  })

  it('says that a place is ahead of the log, and goes on from a snapshot', async () => {
    const { client, server, notices } = clientWorld({ transport }, 3)
    const items = client.thread('t').attach({ after: 9 })
    expect(brief(await take(items, 2))).toEqual(['offset_ahead', 'snapshot at 3'])
    const next = take(items, 1)
    grow(server, 1)
    expect(brief(await next)).toEqual([4])
    expect(notices.map(({ code }) => code)).toEqual(['offset_ahead'])
  })

  it('says that a place is gone from the log, and goes on from a snapshot', async () => {
    const { client, server } = clientWorld({ transport })
    server.first = 8
    grow(server, 2)
    expect(brief(await take(client.thread('t').attach({ after: 2 }), 2))).toEqual(['offset_gone', 'snapshot at 9'])
  })

  it('says so too when the log was deleted while the connection was broken', async () => {
    const { client, server, clock } = clientWorld({ transport }, 3)
    const items = client.thread('t').attach({ after: 1 })
    await take(items, 2)
    server.log.length = 0
    server.first = 10
    server.cut()
    const next = take(items, 2)
    await clock.advance(1_000)
    expect(brief(await next)).toEqual(['offset_gone', 'snapshot at 9'])
  })

  it('gives a newer snapshot after a cut to who has one, because the thread may have been emptied meanwhile', async () => {
    const { client, server, clock } = clientWorld({ transport }, 3)
    const [shown, counted] = [client.thread('t').attach(), client.thread('t').attach({ after: 3 })]
    const [first, second] = [take(shown, 3), take(counted, 1)]
    await clock.advance(0)
    server.cut()
    server.erase()
    await clock.advance(1_000)
    grow(server, 1)
    expect(brief(await first)).toEqual(['snapshot at 3', 'snapshot at 3', 4])
    expect(brief(await second)).toEqual([4])
    const later = take(shown, 1)
    grow(server, 1)
    expect(brief(await later)).toEqual([5])
  })

  it('gives it also if the log is refused for a while after the cut', async () => {
    const { client, server, clock } = clientWorld({ transport }, 3)
    const items = take(client.thread('t').attach(), 3)
    await clock.advance(0)
    server.cut()
    server.erase()
    server.isStoreAway = true
    await clock.advance(1_000)
    server.isStoreAway = false
    await clock.advance(5_000)
    grow(server, 1)
    expect(brief(await items)).toEqual(['snapshot at 3', 'snapshot at 3', 4])
  })

  it('ends by itself with its task, at once if that had ended before', async () => {
    const { client, server } = clientWorld({ transport }, 2)
    server.append(event('task.completed', {}, { seq: 3 }))
    grow(server, 1)
    expect(brief(await take(client.thread('t').attach({ task: 'bg_0', after: 1 }), 9))).toEqual([2, 3])
    expect(brief(await take(client.thread('t').attach({ task: 'bg_0', after: 3 }), 9))).toEqual([])
    expect(brief(await take(client.thread('t').attach({ task: 'bg_0' }), 9))).toEqual(['snapshot at 4'])
  })

  it('detaches when the loop is left, and when the signal fires', async () => {
    const { client, server, clock } = clientWorld({ transport }, 2)
    for await (const _item of client.thread('t').attach({ after: 0 })) break
    await clock.advance(0)
    expect(server.followerCount).toBe(0)
    const leaving = new AbortController()
    const items = client.thread('t').attach({ after: 2, signal: leaving.signal })
    const next = items.next()
    await clock.advance(0)
    expect(server.followerCount).toBe(1)
    leaving.abort()
    expect(await next).toEqual({ done: true, value: undefined })
    await clock.advance(0)
    expect(server.followerCount).toBe(0)
    expect(server.requests.filter(({ method }) => method !== 'GET')).toEqual([])
  })

  it('notices a connection that died without a word', async () => {
    const { client, server, clock, notices } = clientWorld({ transport }, 1)
    const items = client.thread('t').attach({ after: 0 })
    await take(items, 1)
    const next = take(items, 1)
    server.freeze()
    grow(server, 1)
    await clock.advance(60_000)
    server.thaw()
    await clock.advance(20_000)
    expect(brief(await next)).toEqual([2])
    expect(notices.map(({ code }) => code)).toContain('reconnecting')
    expect(notices.at(-1)?.code).toBe('reconnected')
  })

  it('does not follow on while nobody takes what comes, and loses nothing by it', async () => {
    const { client, server, clock } = clientWorld({ transport })
    const items = client.thread('t').attach({ after: 0 })
    const first = items.next()
    await clock.advance(0)
    const text = 'x'.repeat(200_000)
    for (let seq = 1; seq <= 60; seq += 1) server.append(event('text.delta', { text }, { seq }))
    await first
    await clock.advance(0)
    expect(server.followerCount).toBe(0)
    expect(brief(await take(items, 59))).toEqual(Array.from({ length: 59 }, (_, index) => index + 2))
  })

  it('rejects with what the server refuses for good, once', async () => {
    const { client, server } = clientWorld({ transport })
    server.isAuthorised = false
    const items = client.thread('t').attach({ after: 0 })
    const error = await items.next().catch((thrown: unknown) => thrown)
    expect(isHoldfastError(error, 'unauthenticated')).toBe(true)
    expect(await items.next()).toEqual({ done: true, value: undefined })
  })

  it('goes on when the server is back, however long it was away', async () => {
    const { client, server, clock } = clientWorld({ transport }, 1)
    const items = client.thread('t').attach({ after: 0 })
    await take(items, 1)
    server.lives = Array.from({ length: 12 }, () => -1)
    server.isReady = false
    server.cut()
    const next = take(items, 1)
    await clock.advance(60_000)
    grow(server, 1)
    server.isReady = true
    await clock.advance(60_000)
    expect(brief(await next)).toEqual([2])
  })
})

describe('the one WebSocket of a client', () => {
  it('carries all attachments', async () => {
    const { client, server } = clientWorld({}, 2)
    const all = Array.from({ length: 20 }, (_, n) => client.thread(`t${n}`).attach({ after: 0 }))
    for (const items of all) expect(brief(await take(items, 2))).toEqual([1, 2])
    expect(server.opened).toEqual(['ws://server/v1/ws'])
  })

  it('carries two attachments of one thread, each from its own place and with its own filter', async () => {
    const { client, server } = clientWorld({}, 2)
    server.append(event('custom', { name: 'n' }, { seq: 3 }))
    const late = client.thread('t').attach({ after: 3 })
    const waiting = take(late, 1)
    const early = client.thread('t').attach({ after: 0 })
    const customs = client.thread('t').attach({ after: 0, types: ['custom'] })
    expect(brief(await take(customs, 1))).toEqual([3])
    expect(brief(await take(early, 3))).toEqual([1, 2, 3])
    grow(server, 1)
    expect(brief(await waiting)).toEqual([4])
    expect(brief(await take(early, 1))).toEqual([4])
    const ahead = client.thread('t').attach({ after: 9 })
    expect(brief(await take(ahead, 2))).toEqual(['offset_ahead', 'snapshot at 4'])
    await early.return?.()
    const next = [take(late, 1), take(ahead, 1)]
    grow(server, 1)
    for (const each of next) expect(brief(await each)).toEqual([5])
  })

  it('goes on for those whose place is there when another’s is gone', async () => {
    const { client, server } = clientWorld()
    server.first = 5
    grow(server, 3)
    const good = client.thread('t').attach({ after: 5 })
    expect(brief(await take(good, 2))).toEqual([6, 7])
    const next = take(good, 1)
    expect(brief(await take(client.thread('t').attach({ after: 1 }), 2))).toEqual(['offset_gone', 'snapshot at 7'])
    grow(server, 1)
    expect(brief(await next)).toEqual([8])
  })

  it('says that a place is gone when the thread is deleted, though its log goes on with the next number', async () => {
    const { client, server } = clientWorld({}, 3)
    const items = client.thread('t').attach({ after: 1 })
    await take(items, 2)
    const next = take(items, 2)
    server.erase()
    expect(brief(await next)).toEqual(['offset_gone', 'snapshot at 3'])
    const later = take(items, 1)
    grow(server, 1)
    expect(brief(await later)).toEqual([4])
  })

  it('is let go a moment after the last attachment, and opened again for the next', async () => {
    const { client, server, clock } = clientWorld({}, 1)
    for (const _time of [1, 2]) for await (const _item of client.thread('t').attach({ after: 0 })) break
    expect(server.opened).toHaveLength(1)
    await clock.advance(1_000)
    expect(clock.pendingTimerCount).toBe(0)
    for await (const _item of client.thread('t').attach({ after: 0 })) break
    expect(server.opened).toHaveLength(2)
  })

  it('gives way to SSE where none can be opened though the server answers, and says so', async () => {
    const { client, server, clock, notices } = clientWorld({}, 2)
    server.hasSockets = false
    const items = client.thread('t').attach({ after: 0 })
    const next = take(items, 2)
    await clock.advance(5_000)
    expect(brief(await next)).toEqual([1, 2])
    expect(notices.map(({ code }) => code)).toContain('fell_back')
  })

  it('is tried again when the network is back, for whoever is attached from then on', async () => {
    const page = new EventTarget()
    Object.assign(globalThis, { addEventListener: page.addEventListener.bind(page) })
    onTestFinished(() => void Reflect.deleteProperty(globalThis, 'addEventListener'))
    const { client, server, clock } = clientWorld({}, 1)
    server.hasSockets = false
    const next = take(client.thread('t').attach({ after: 0 }), 1)
    await clock.advance(5_000)
    await next
    server.hasSockets = true
    const tries = server.opened.length
    page.dispatchEvent(new Event('online'))
    expect(brief(await take(client.thread('t').attach({ after: 0 }), 1))).toEqual([1])
    expect(server.opened).toHaveLength(tries + 1)
    expect(server.frames.at(-1)).toMatchObject({ type: 'attach' })
  })

  it('gives way to SSE once more, and says so, if it is tried again and none opens', async () => {
    const { client, server, clock, notices } = clientWorld({}, 1)
    server.hasSockets = false
    for (const count of [1, 2]) {
      const next = take(client.thread('t').attach({ after: 0 }), 1)
      await clock.advance(5_000)
      expect(brief(await next)).toEqual([1])
      expect(notices.filter(({ code }) => code === 'fell_back')).toHaveLength(count)
      client.connection.retry()
    }
  })

  it('is tried at once when somebody asks for that', async () => {
    const { client, server, clock } = clientWorld({}, 2)
    server.hasSockets = false
    server.isReady = false
    const next = take(client.thread('t').attach({ after: 0 }), 2)
    await clock.advance(60_000)
    expect(client.connection.snapshot().state).toBe('reconnecting')
    server.hasSockets = true
    server.isReady = true
    client.connection.retry()
    expect(brief(await next)).toEqual([1, 2])
  })

  it('is waited for while the server is not ready, without giving way', async () => {
    const { client, server, clock, notices } = clientWorld({}, 2)
    server.hasSockets = false
    server.isReady = false
    const next = take(client.thread('t').attach({ after: 0 }), 2)
    await clock.advance(60_000)
    server.hasSockets = true
    server.isReady = true
    await clock.advance(20_000)
    expect(brief(await next)).toEqual([1, 2])
    expect(notices.map(({ code }) => code)).not.toContain('fell_back')
  })
})
