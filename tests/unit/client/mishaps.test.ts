import { describe, expect, it, onTestFinished } from 'vitest'
import { createClient } from '../../../src/client/index.ts'
import { manualClock } from '../../../src/testing/manual-clock.ts'

describe('a server that takes a connection and never answers', () => {
  it.each(['attach', 'firehose'] as const)('is asked anew for a stream after a minute: %s', async (how) => {
    const clock = manualClock()
    let asked = 0
    const fetch: typeof globalThis.fetch = (_url, init) => {
      asked += 1
      return new Promise((_resolve, reject) => {
        init?.signal?.addEventListener('abort', () => reject(init.signal?.reason as Error))
      })
    }
    const client = createClient({ url: 'http://s', fetch, clock, transport: 'sse', random: () => 0 })
    onTestFinished(() => client.close())
    const items = how === 'attach' ? client.thread('t').attach({ after: 0 }) : client.firehose()
    const first = items.next()
    await clock.advance(61_000)
    expect(asked).toBe(2)
    client.close()
    expect(await first).toEqual({ done: true, value: undefined })
    await clock.advance(0)
    expect(clock.pendingTimerCount).toBe(0)
  })
})

describe('an answer that is no answer of Holdfast', () => {
  it('is waited for no longer than a timer can, which would fire at once, however long it says', async () => {
    const clock = manualClock()
    const waits: number[] = []
    const setTimer: typeof clock.setTimer = (afterMs, fire) => {
      waits.push(afterMs)
      return clock.setTimer(afterMs, fire)
    }
    const headers = { 'retry-after': '31536000' }
    const client = createClient({
      url: 'http://s',
      fetch: () => Promise.resolve(new Response('closed', { status: 503, headers })),
      transport: 'sse',
      clock: { now: () => clock.now(), setTimer },
    })
    onTestFinished(() => client.close())
    void client.thread('t').attach({ after: 0 }).next()
    await clock.advance(0)
    expect(waits.at(-1)).toBeGreaterThan(86_400_000)
    expect(waits.at(-1)).toBeLessThan(2 ** 31)
  })

  it.each(['<html></html>', 'null', '', '{"cut":'])('is told as such: %j', async (body) => {
    const fetch: typeof globalThis.fetch = () => Promise.resolve(new Response(body))
    const client = createClient({ url: 'http://s', fetch, clock: manualClock() })
    const refusal = { code: 'unreachable', message: expect.stringContaining('not Holdfast that answered') as string }
    await expect(client.get('bg_0')).rejects.toMatchObject(refusal)
    await expect(client.run('t', { agent: 'echo', prompt: 'x' })).rejects.toMatchObject(refusal)
  })

  it.each(['sse', 'websocket'] as const)('is no stream, and is left alone longer each time: %s', async (transport) => {
    const clock = manualClock()
    const notices: string[] = []
    let asked = 0
    const client = createClient({
      url: 'http://s',
      transport,
      clock,
      random: () => 0,
      fetch: () => {
        asked += 1
        return Promise.resolve(new Response('<html></html>', { headers: { 'content-type': 'text/html' } }))
      },
      WebSocket: class {
        constructor() {
          throw new Error('The page of a network that wants a login is no server')
        }
      } as never,
      onNotice: ({ code }) => void notices.push(code),
    })
    onTestFinished(() => client.close())
    void client.firehose().next()
    for (let passed = 0; passed < 10_000; passed += 125) await clock.advance(125)
    expect(asked).toBeGreaterThan(3)
    expect(asked).toBeLessThan(10)
    expect(notices).not.toContain('fell_back')
  })
})
