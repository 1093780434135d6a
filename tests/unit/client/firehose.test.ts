import { expect, it } from 'vitest'
import { clientWorld, grow } from './client-world.ts'

it('the firehose gives live events, and says when some may be missing', async () => {
  const { client, server, clock } = clientWorld()
  const items = client.firehose({ types: ['text.delta'] })
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
  expect(server.requests.map(({ path }) => path)).toEqual([
    '/v1/events?types=text.delta',
    '/v1/events?types=text.delta',
  ])
  const last = items.next()
  client.close()
  expect(await last).toEqual({ done: true, value: undefined })
  await clock.advance(0)
  expect(clock.pendingTimerCount).toBe(0)
})
