import { describe, expect, it } from 'vitest'
import { clientWorld, grow } from './client-world.ts'
import { event } from './events.ts'

const says = { types: ['text.delta'] }

/** Asks for the next item, and lets what is under way come through. */
function nextOf<Item>(items: AsyncIterator<Item, undefined>, settle: () => Promise<unknown>) {
  const next = items.next()
  return settle().then(() => next)
}

describe.each(['websocket', 'sse'] as const)('the firehose over %s', (transport) => {
  it('gives live events, and says when some may be missing', async () => {
    const { client, server, clock } = clientWorld({ transport })
    const items = client.firehose(says)
    const first = items.next()
    await clock.advance(0)
    grow(server, 1)
    expect((await first).value).toMatchObject({ seq: 1 })
    const next = items.next()
    server.cut()
    grow(server, 1)
    await clock.advance(1_000)
    expect((await next).value).toEqual({ type: 'missed' })
    const third = items.next()
    await clock.advance(0)
    grow(server, 1)
    await third
    const last = items.next()
    client.close()
    expect(await last).toEqual({ done: true, value: undefined })
    await clock.advance(0)
    expect(clock.pendingTimerCount).toBe(0)
  })

  it('says once when it is open', async () => {
    const { client, server, clock } = clientWorld({ transport })
    const opened: string[] = []
    const items = client.firehose({ onOpen: () => opened.push('open') })
    const first = items.next()
    expect(opened).toEqual([])
    await clock.advance(0)
    expect(opened).toEqual(['open'])
    server.cut()
    await clock.advance(1_000)
    expect((await first).value).toEqual({ type: 'missed' })
    expect(opened).toEqual(['open'])
  })

  it('rejects with what the server refuses for good', async () => {
    const { client, server } = clientWorld({ transport })
    server.isAuthorised = false
    await expect(client.firehose().next()).rejects.toMatchObject({ code: 'unauthenticated' })
  })

  it('ends when its signal fires, and no task notices', async () => {
    const { client, server, clock } = clientWorld({ transport })
    const leaving = new AbortController()
    const items = client.firehose({ signal: leaving.signal })
    const next = items.next()
    await clock.advance(0)
    leaving.abort()
    expect(await next).toEqual({ done: true, value: undefined })
    await clock.advance(1_000)
    expect(server.followerCount).toBe(0)
  })

  it('lets go of what a reader leaves lying, and says that it did', async () => {
    const { client, server, clock } = clientWorld({ transport })
    const items = client.firehose()
    const first = items.next()
    await clock.advance(0)
    grow(server, 1)
    await first
    const text = 'a'.repeat(1024 * 1024)
    for (let count = 0; count < 6; count += 1) server.append(event('text.delta', { text }, { seq: server.head + 1 }))
    await clock.advance(0)
    expect(server.followerCount).toBe(0)
    const given: unknown[] = []
    while (given.at(-1) !== 'missed')
      given.push(await nextOf(items, () => clock.advance(0)).then(({ value }) => value?.type))
    expect(given.length).toBeLessThan(8)
    const fresh = items.next()
    grow(server, 1)
    expect((await fresh).value).toMatchObject({ seq: 8 })
  })
})

describe('the firehose', () => {
  it('shares one socket with what is attached, and one watch with another firehose', async () => {
    const { client, server, clock } = clientWorld({}, 1)
    const log = client.thread('t').attach({ after: 0 })
    await log.next()
    const one = client.firehose({ types: ['text.delta'] })
    const other = client.firehose({ types: ['progress'] })
    const first = one.next()
    await clock.advance(0)
    const second = other.next()
    await clock.advance(0)
    // What it did not get while the watch was replaced is not known.
    expect((await first).value).toEqual({ type: 'missed' })
    const said = one.next()
    grow(server, 1)
    expect((await said).value).toMatchObject({ type: 'text.delta' })
    server.append(event('progress', { value: 0.5 }, { seq: server.head + 1 }))
    expect((await second).value).toMatchObject({ type: 'progress' })
    expect(server.opened).toHaveLength(1)
    expect(server.frames.filter(({ type }) => type === 'watch')).toMatchObject([
      { types: ['text.delta'] },
      { types: ['text.delta', 'progress'] },
    ])
    await one.return?.()
    expect(server.frames.some(({ type }) => type === 'unwatch')).toBe(false)
    await other.return?.()
    expect(server.frames.some(({ type }) => type === 'unwatch')).toBe(true)
    expect(server.requests).toEqual([])
  })

  it('falls back to SSE where no WebSocket can be opened', async () => {
    const { client, server, clock } = clientWorld()
    server.hasSockets = false
    const items = client.firehose(says)
    const first = items.next()
    await clock.advance(5_000)
    grow(server, 1)
    expect((await first).value).toMatchObject({ seq: 1 })
    expect(server.requests.at(-1)?.path).toBe('/v1/events?types=text.delta')
  })
})
