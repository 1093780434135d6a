import { describe, expect, it } from 'vitest'
import { snapshotTasks } from '../../../src/runtime/task-snapshot.ts'
import { TooLong } from '../../../src/stores/store.ts'
import { openSite } from './site.ts'

const asked = [
  ['GET', '/v1/tasks', undefined],
  ['GET', '/v1/tasks/bg_0', undefined],
  ['GET', '/v1/threads', undefined],
  ['GET', '/v1/threads/t', undefined],
  ['GET', '/v1/threads/t/messages', undefined],
  ['GET', '/v1/threads/t/events', undefined],
  ['GET', '/v1/threads/t/results', undefined],
  ['DELETE', '/v1/threads/t', undefined],
  ['POST', '/v1/threads/t/runs', { agent: 'echo', prompt: 'x' }],
  ['POST', '/v1/threads/t/tasks', { agent: 'echo', prompt: 'x' }],
  ['POST', '/v1/threads/t/cancel', { scope: 'all' }],
  ['POST', '/v1/threads/t/results/collect', { tasks: ['bg_0'] }],
  ['POST', '/v1/tasks/bg_0/cancel', {}],
  ['POST', '/v1/tasks/bg_0/messages', { content: 'x' }],
] as const

describe('while the store is down', () => {
  it.each(asked)(
    '%s %s is answered, if need be with 503 and Retry-After, never as a defect',
    async (method, path, body) => {
      const site = await openSite()
      await site.ask('POST', '/v1/threads/t/runs', { body: { agent: 'held', prompt: 'x' } })
      site.store.down()
      const answer = await site.ask(method, path, { body })
      if (answer.status !== 200) {
        expect(answer).toMatchObject({ status: 503, body: { code: 'store_unavailable' } })
        expect(answer.headers.get('retry-after')).toBe('1')
        expect(answer.body).not.toHaveProperty('detail')
      }
      expect(site.logged.filter(({ level }) => level === 'error')).toEqual([])
      site.store.up()
    },
  )
})

describe('after the runtime has closed', () => {
  it.each(asked)('%s %s is answered, and is no defect', async (method, path, body) => {
    const site = await openSite()
    await site.runtime.close({ drainMs: 0 })
    const answer = await site.ask(method, path, { body })
    expect([200, 204, 404, 503]).toContain(answer.status)
    expect(site.logged.filter(({ level }) => level === 'error')).toEqual([])
  })
})

it('a delete that takes the store too long is answered with 503 and Retry-After, and is no defect', async () => {
  const site = await openSite()
  const { body } = await site.ask('POST', '/v1/threads/t/runs', { body: { agent: 'echo', prompt: 'x' } })
  await site.runtime.as('alice').wait(String(body['id']))
  site.store.plan((units) => {
    if (units.some(({ erase }) => erase)) throw new TooLong('1 unit took too long')
    return 'none'
  })
  const answer = await site.ask('DELETE', '/v1/threads/t')
  expect(answer).toMatchObject({ status: 503, body: { code: 'store_unavailable', retryAfterMs: 10_000 } })
  expect(answer.headers.get('retry-after')).toBe('10')
  expect(site.logged.filter(({ level }) => level === 'error')).toEqual([])
  expect(await site.runtime.isReady()).toBe(true)
  site.store.plan(() => 'none')
  expect(await site.ask('DELETE', '/v1/threads/t')).toMatchObject({ status: 204 })
})

it.each([
  ['/v1/threads/t/runs', { agent: 'echo', prompt: 'x' }],
  ['/v1/threads/t/tasks', { agent: 'echo', prompt: 'x' }],
  ['/v1/threads/t/results/collect', { tasks: ['bg_0'] }],
])(
  'POST %s that takes the store too long is answered with 503 and Retry-After, and is no defect',
  async (path, body) => {
    const site = await openSite()
    site.store.plan(() => {
      throw new TooLong('1 unit took too long')
    })
    const answer = await site.ask('POST', path, { body })
    expect(answer).toMatchObject({ status: 503, body: { code: 'store_unavailable', retryAfterMs: 10_000 } })
    expect(answer.headers.get('retry-after')).toBe('10')
    expect(site.logged.filter(({ level }) => level === 'error')).toEqual([])
    expect(await site.runtime.isReady()).toBe(true)
    site.store.plan(() => 'none')
    expect((await site.ask('POST', path, { body })).status).toBeLessThan(300)
  },
)

it('a restore that takes the store too long is refused as store_unavailable, and done when it is asked again', async () => {
  const site = await openSite()
  const alice = site.runtime.as('alice')
  const { id } = await alice.run({ thread: 't', agent: 'echo', prompt: 'x' })
  await alice.wait(id)
  const tasks = Object.values(await snapshotTasks(alice, 't'))
  await alice.deleteThread('t')
  site.store.plan(() => {
    throw new TooLong('1 unit took too long')
  })
  await expect(alice.restore(tasks)).rejects.toMatchObject({ code: 'store_unavailable' })
  site.store.plan(() => 'none')
  expect((await alice.restore(tasks)).restored).toEqual([id])
})
