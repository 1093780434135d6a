import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { acceptedRun, task } from '../../../../src/protocol/schemas/shapes.ts'
import { openSite } from '../site.ts'

const runs = '/v1/threads/t/runs'
const tasks = '/v1/threads/t/tasks'

describe('POST runs', () => {
  it('answers 202 with the task and where it is', async () => {
    const site = await openSite()
    const answer = await site.ask('POST', runs, { body: { agent: 'echo', prompt: 'Hello' } })
    expect(answer.status).toBe(202)
    expect(z.strictObject(acceptedRun.shape).parse(answer.body)).toMatchObject({
      thread: 't',
      type: 'run',
      description: 'Hello',
    })
    expect(answer.headers.get('location')).toBe(`/v1/tasks/${String(answer.body['id'])}`)
    expect(answer.headers.has('idempotency-replayed')).toBe(false)
  })

  it('answers with what was steered and what was interrupted', async () => {
    const site = await openSite()
    const first = await site.ask('POST', runs, { body: { agent: 'held', prompt: 'a' } })
    const steering = await site.ask('POST', runs, { body: { agent: 'held', prompt: 'b', onBusy: 'steer' } })
    expect(steering.status).toBe(202)
    expect(steering.body['id']).toBe(first.body['id'])
    expect(steering.body['steered']).toEqual(expect.any(String))
    const interrupt = await site.ask('POST', runs, { body: { agent: 'held', prompt: 'c', onBusy: 'interrupt' } })
    expect(interrupt.body['interrupted']).toContain(first.body['id'])
    const busy = await site.ask('POST', runs, { body: { agent: 'held', prompt: 'd', onBusy: 'reject' } })
    expect(busy).toMatchObject({ status: 409, body: { code: 'busy' } })
  })

  it('gives the same task under the same key, and 409 for another request', async () => {
    const site = await openSite()
    const again = (prompt: string, path = runs) =>
      site.ask('POST', path, { body: { agent: 'held', prompt }, headers: { 'idempotency-key': 'k-1' } })
    const first = await again('a')
    const second = await again('a')
    expect(second.status).toBe(202)
    expect(second.headers.get('idempotency-replayed')).toBe('true')
    expect(second.headers.get('location')).toBe(first.headers.get('location'))
    expect(second.body['id']).toBe(first.body['id'])
    expect(second.body).not.toHaveProperty('isReplayed')
    for (const other of [await again('b'), await again('a', tasks), await again('a', '/v1/threads/u/runs')]) {
      expect(other).toMatchObject({ status: 409, body: { code: 'idempotency_conflict' } })
    }
    const others = await site.ask('POST', runs, {
      as: 'bob',
      body: { agent: 'held', prompt: 'a' },
      headers: { 'idempotency-key': 'k-1' },
    })
    expect(others.headers.has('idempotency-replayed')).toBe(false)
  })

  it.each(['', 'has space', 'x'.repeat(201), 'é', 'a, b'])('refuses the key %j', async (key) => {
    const site = await openSite()
    const headers = { 'idempotency-key': key }
    const answer = await site.ask('POST', runs, { body: { agent: 'echo', prompt: 'a' }, headers })
    expect(answer).toMatchObject({ status: 400, body: { code: 'invalid_request' } })
    expect(answer.body['errors']?.[0]?.['path']).toBe('Idempotency-Key')
  })

  it.each([
    [{ agent: 'echo' }, 400, 'invalid_request'],
    [{ agent: 'echo', prompt: 'a', input: 1 }, 400, 'invalid_request'],
    [{ agent: 'echo', prompt: 'a', extra: 1 }, 400, 'invalid_request'],
    [{ agent: 'nobody', prompt: 'a' }, 422, 'unknown_agent'],
    [{ agent: 'echo', input: 1, onBusy: 'steer' }, 422, 'invalid_input'],
  ])('answers %j with %i %s', async (body, status, code) => {
    const site = await openSite()
    expect(await site.ask('POST', runs, { body })).toMatchObject({ status, body: { code } })
  })

  it('hands a traceparent to the task, and ignores a malformed one', async () => {
    const seen: unknown[] = []
    const site = await openSite({ agents: { tell: (ctx) => void seen.push(ctx.traceparent) } })
    const good = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01'
    for (const traceparent of [good, 'nonsense', good.toUpperCase()]) {
      const answer = await site.ask('POST', runs, { body: { agent: 'tell', prompt: 'a' }, headers: { traceparent } })
      expect(answer.status).toBe(202)
      await site.runtime.as('alice').wait(String(answer.body['id']))
    }
    expect(seen).toEqual([good, undefined, undefined])
  })

  it('answers 429 with Retry-After when the queue is full', async () => {
    const site = await openSite({ limits: { queuedRunsPerThread: 1 } })
    await site.ask('POST', runs, { body: { agent: 'held', prompt: 'a' } })
    await site.ask('POST', runs, { body: { agent: 'held', prompt: 'b' } })
    const answer = await site.ask('POST', runs, { body: { agent: 'held', prompt: 'c' } })
    expect(answer).toMatchObject({ status: 429, body: { code: 'limit_reached' } })
    expect(answer.headers.get('retry-after')).toBe('1')
  })
})

describe('POST tasks', () => {
  it('answers 202 with a background task', async () => {
    const site = await openSite()
    const body = { agent: 'held', prompt: 'a', name: 'digger', detached: true, metadata: { colour: 'red' } }
    const answer = await site.ask('POST', tasks, { body })
    expect(answer.status).toBe(202)
    expect(z.strictObject(task.shape).parse(answer.body)).toMatchObject({
      type: 'agent',
      name: 'digger',
      detached: true,
    })
    expect(answer.headers.get('location')).toBe(`/v1/tasks/${String(answer.body['id'])}`)
  })

  it('answers for a parent that has ended, is another’s or is not there', async () => {
    const site = await openSite()
    const parent = await site.ask('POST', tasks, { body: { agent: 'held', prompt: 'a' } })
    const id = String(parent.body['id'])
    const child = await site.ask('POST', tasks, { body: { agent: 'held', prompt: 'b', parent: id } })
    expect(child.body['parent']).toEqual({ task: id })
    const foreign = await site.ask('POST', tasks, { as: 'bob', body: { agent: 'held', prompt: 'b', parent: id } })
    expect(foreign).toMatchObject({ status: 404, body: { code: 'not_found' } })
    await site.ask('POST', `/v1/tasks/${id}/cancel`)
    await site.runtime.as('alice').wait(id)
    const late = await site.ask('POST', tasks, { body: { agent: 'held', prompt: 'b', parent: id } })
    expect(late).toMatchObject({ status: 409, body: { code: 'task_terminated', taskStatus: 'cancelled' } })
  })

  it.each([
    [{ name: 'a b' }, 400, 'invalid_request'],
    [{ name: 'x'.repeat(65) }, 400, 'invalid_request'],
    [{ name: 'parent' }, 422, 'reserved_name'],
    [{ type: 'run' }, 400, 'invalid_request'],
    [{ onBusy: 'queue' }, 400, 'invalid_request'],
  ])('answers %j with %i %s', async (fields, status, code) => {
    const site = await openSite()
    const answer = await site.ask('POST', tasks, { body: { agent: 'echo', prompt: 'a', ...fields } })
    expect(answer).toMatchObject({ status, body: { code } })
  })

  it('answers 409 for a name that a live task has', async () => {
    const site = await openSite()
    const body = { agent: 'held', prompt: 'a', name: 'one' }
    await site.ask('POST', tasks, { body })
    expect(await site.ask('POST', tasks, { body })).toMatchObject({ status: 409, body: { code: 'name_taken' } })
  })
})
