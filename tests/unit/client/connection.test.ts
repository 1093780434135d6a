import { describe, expect, it } from 'vitest'
import type { Client } from '../../../src/client/index.ts'
import { clientWorld, take } from './client-world.ts'

/** The states that a client goes through from now on, as they come. */
function watch(client: Client): string[] {
  const states: string[] = []
  client.connection.subscribe(() => {
    const now = client.connection.snapshot()
    states.push(now.state === 'reconnecting' ? `reconnecting in ${now.retryInMs}` : now.state)
  })
  return states
}

describe.each(['websocket', 'sse'] as const)('the connection over %s', (transport) => {
  it('is offline, connects, is live, is lost and is live again', async () => {
    const { client, server, clock, notices } = clientWorld({ transport }, 1)
    expect(client.connection.snapshot().state).toBe('offline')
    const states = watch(client)
    const items = client.thread('t').attach({ after: 0 })
    await take(items, 1)
    expect(states).toEqual(['reconnecting in 0', 'live'])
    server.cut()
    await clock.advance(0)
    expect(states.slice(2)).toEqual(['reconnecting in 125'])
    expect(client.connection.snapshot()).toMatchObject({ since: clock.now() })
    await clock.advance(125)
    expect(states.slice(3)).toEqual(['reconnecting in 0', 'live'])
    expect(notices.map(({ code }) => code)).toEqual(['reconnecting', 'reconnected'])
    client.close()
    expect(states.at(-1)).toBe('offline')
  })

  it('is the same object until it changes, and tells nobody who has left', async () => {
    const { client } = clientWorld({ transport }, 2)
    let count = 0
    const leave = client.connection.subscribe(() => {
      count += 1
    })
    await take(client.thread('t').attach({ after: 0 }), 1)
    const before = client.connection.snapshot()
    await take(client.thread('u').attach({ after: 0 }), 2)
    expect(client.connection.snapshot()).toBe(before)
    expect(count).toBe(2)
    leave()
    client.close()
    expect(count).toBe(2)
  })
})

describe.each(['websocket', 'sse'] as const)('a client that is no longer let in, over %s', (transport) => {
  it('is offline, whatever else is answered, until it is let in again', async () => {
    const { client, server, clock } = clientWorld({ transport }, 1)
    const items = client.thread('t').attach({ after: 0 })
    await take(items, 1)
    const next = items.next().catch(({ code }: { code: string }) => code)
    server.isAuthorised = false
    server.cut()
    await clock.advance(1_000)
    expect(await next).toBe('unauthenticated')
    expect(client.connection.snapshot().state).toBe('offline')
    server.isAuthorised = true
    const asked = server.requests.length + server.opened.length
    client.connection.retry()
    await clock.advance(60_000)
    expect(server.requests.length + server.opened.length).toBe(asked)
    expect(client.connection.snapshot().state).toBe('offline')
    await take(client.thread('t').attach({ after: 0 }), 1)
    expect(client.connection.snapshot().state).toBe('live')
  })
})

describe('the connection of a client to which nothing is attached', () => {
  it('is what the last request found', async () => {
    const { client, server } = clientWorld({ retryForMs: 0 })
    await client.limits()
    expect(client.connection.snapshot().state).toBe('live')
    server.freeze()
    await expect(client.limits()).rejects.toThrow(/cannot be reached/)
    expect(client.connection.snapshot().state).toBe('offline')
  })
})
