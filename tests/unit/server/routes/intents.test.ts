import { describe, expect, it } from 'vitest'
import { openSite, type TestSite } from '../site.ts'

async function heldRun(site: TestSite): Promise<string> {
  const answer = await site.ask('POST', '/v1/threads/t/runs', { body: { agent: 'held', prompt: 'x' } })
  return String(answer.body['id'])
}

describe('cancelling', () => {
  it('a thread takes no body at all, and lists what had not ended', async () => {
    const site = await openSite()
    const ids = [await heldRun(site), await heldRun(site)]
    expect(await site.ask('POST', '/v1/threads/t/cancel')).toMatchObject({ status: 200, body: { cancelled: ids } })
    for (const id of ids) await site.runtime.as('alice').wait(id)
    expect((await site.ask('POST', '/v1/threads/t/cancel', { body: {} })).body).toEqual({ cancelled: [] })
    expect((await site.ask('POST', '/v1/threads/never/cancel')).body).toEqual({ cancelled: [] })
  })

  it('a thread with scope all reaches background tasks', async () => {
    const site = await openSite()
    const { body } = await site.ask('POST', '/v1/threads/t/tasks', {
      body: { agent: 'held', prompt: 'x', detached: true },
    })
    expect((await site.ask('POST', '/v1/threads/t/cancel', { body: { scope: 'runs' } })).body).toEqual({
      cancelled: [],
    })
    const all = await site.ask('POST', '/v1/threads/t/cancel', { body: { scope: 'all', reason: 'enough' } })
    expect(all.body).toEqual({ cancelled: [body['id']] })
  })

  it('a task takes its tree with it unless told otherwise', async () => {
    const site = await openSite()
    const root = await heldRun(site)
    const child = await site.ask('POST', '/v1/threads/t/tasks', { body: { agent: 'held', prompt: 'x', parent: root } })
    const alone = await site.ask('POST', `/v1/tasks/${String(child.body['id'])}/cancel`, { body: { tree: false } })
    expect(alone.body).toEqual({ cancelled: [child.body['id']] })
    await site.runtime.as('alice').wait(String(child.body['id']))
    expect((await site.ask('POST', `/v1/tasks/${root}/cancel`)).body).toEqual({ cancelled: [root] })
    await site.runtime.as('alice').wait(root)
    expect(await site.ask('POST', `/v1/tasks/${root}/cancel`)).toMatchObject({ status: 200, body: { cancelled: [] } })
  })

  it('refuses what it does not know', async () => {
    const site = await openSite()
    for (const body of [{ scope: 'some' }, { reason: 1 }, { why: 'x' }, { reason: 'x'.repeat(1001) }]) {
      expect((await site.ask('POST', '/v1/threads/t/cancel', { body })).status).toBe(400)
    }
  })
})

describe('sending', () => {
  it('answers 202 with the id of the message', async () => {
    const site = await openSite()
    const id = await heldRun(site)
    const answer = await site.ask('POST', `/v1/tasks/${id}/messages`, { body: { content: { a: 1 }, from: 'me' } })
    expect(answer).toMatchObject({ status: 202, body: { id: expect.any(String) } })
  })

  it('answers 409 for a task that has ended, or has no inbox', async () => {
    const site = await openSite()
    const id = await heldRun(site)
    await site.ask('POST', `/v1/tasks/${id}/cancel`)
    await site.runtime.as('alice').wait(id)
    const late = await site.ask('POST', `/v1/tasks/${id}/messages`, { body: { content: 'x' } })
    expect(late).toMatchObject({ status: 409, body: { code: 'task_terminated', taskStatus: 'cancelled' } })
    const other = await site.ask('POST', '/v1/threads/t/tasks', { body: { agent: 'held', prompt: 'x', type: 'chore' } })
    const deaf = await site.ask('POST', `/v1/tasks/${String(other.body['id'])}/messages`, { body: { content: 'x' } })
    expect(deaf).toMatchObject({ status: 409, body: { code: 'no_inbox' } })
  })
})

describe('a task of another principal', () => {
  it('is answered on every route byte for byte as one that does not exist', async () => {
    const site = await openSite()
    const id = await heldRun(site)
    const routes = [
      ['GET', '', undefined],
      ['POST', '/cancel', undefined],
      ['POST', '/cancel', { tree: false }],
      ['POST', '/messages', { content: 'x' }],
    ] as const
    const headers = { 'x-request-id': 'same' }
    for (const [method, rest, body] of routes) {
      const foreign = await site.ask(method, `/v1/tasks/${id}${rest}`, { as: 'bob', body, headers })
      const absent = await site.ask(method, `/v1/tasks/bg_4711${rest}`, { as: 'bob', body, headers })
      expect(foreign.status).toBe(404)
      expect(foreign.text).toBe(absent.text)
      expect([...foreign.headers]).toEqual([...absent.headers])
      expect(foreign.text).not.toContain(id)
      expect(Object.keys(foreign.body).sort()).toEqual(['code', 'requestId', 'status', 'title', 'type'])
    }
    expect((await site.ask('GET', `/v1/tasks/${id}`)).body).toMatchObject({ status: 'running' })
  })
})
