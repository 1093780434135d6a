import { describe, expect, it } from 'vitest'
import { errorCodes, HoldfastError, notFound } from '../../../src/core/errors.ts'
import { httpStatus } from '../../../src/protocol/http-status.ts'
import { retryAfterSeconds, toProblem } from '../../../src/protocol/problem.ts'

describe('toProblem', () => {
  it('tells code, status, detail, facts and the request', () => {
    const error = new HoldfastError('offset_ahead', 'The log ends at 3', { facts: { head: 3 } })
    expect(toProblem(error, 'r-1')).toEqual({
      type: 'urn:holdfast:error:offset_ahead',
      title: 'The offset is beyond the end of the log',
      status: 409,
      code: 'offset_ahead',
      detail: 'The log ends at 3',
      requestId: 'r-1',
      head: 3,
    })
  })

  it('tells of two things that are not there with the same words', () => {
    const problem = toProblem(notFound('bg_1'), 'r')
    expect(problem).toEqual(toProblem(new HoldfastError('not_owner', 'bg_2 is of b', { facts: { task: 'bg_2' } }), 'r'))
    expect(Object.keys(problem).sort()).toEqual(['code', 'requestId', 'status', 'title', 'type'])
  })

  it('shows nothing of an error that is none of ours', () => {
    const problem = toProblem(new TypeError('secret /etc/passwd SELECT *'), 'r')
    expect(problem).toMatchObject({ code: 'internal_error', status: 500 })
    expect(JSON.stringify(problem)).not.toMatch(/secret|passwd|SELECT/)
    for (const thrown of [undefined, null, 'text', { code: 'not_found', name: 'HoldfastError' }]) {
      expect(toProblem(thrown, 'r').code).toBe('internal_error')
    }
  })

  it.each(['no_store', 'store_locked', 'store_schema', 'store_failed', 'store_unavailable'] as const)(
    'shows nothing of what the store says with %s',
    (code) => {
      const error = new HoldfastError(code, 'disk I/O error in /var/lib/x.db', { facts: { path: '/var/lib/x.db' } })
      const problem = toProblem(error, 'r')
      expect(problem).toMatchObject({ code: 'store_unavailable', status: 503 })
      expect(JSON.stringify(problem)).not.toContain('/var')
    },
  )

  it('lets no fact take the place of a field', () => {
    const facts = { status: 200, code: 'x', requestId: 'y', type: 'z', title: 't', detail: 'd' }
    expect(toProblem(new HoldfastError('busy', 'Busy', { facts }), 'r')).toMatchObject({
      status: 409,
      code: 'busy',
      requestId: 'r',
      type: 'urn:holdfast:error:busy',
      detail: 'Busy',
    })
  })

  it('always has errors with invalid_request', () => {
    expect(toProblem(new HoldfastError('invalid_request', 'A limit is a number'), 'r')['errors']).toEqual([
      { path: '', message: 'A limit is a number' },
    ])
  })

  it('has for every code a status that is an error, and a title', () => {
    for (const code of errorCodes) {
      const problem = toProblem(new HoldfastError(code, 'x'), 'r')
      expect(problem.status).toBe(httpStatus[code])
      expect(problem.status).toBeGreaterThanOrEqual(400)
      expect(problem.title).not.toBe('')
    }
  })
})

describe('retryAfterSeconds', () => {
  const secondsFor = (code: 'limit_reached' | 'draining' | 'busy', retryAfterMs?: number) =>
    retryAfterSeconds(toProblem(new HoldfastError(code, 'x', { facts: { retryAfterMs } }), 'r'))

  it('is at least a second, rounded up, for what passes by itself', () => {
    expect(secondsFor('limit_reached', 1500)).toBe(2)
    expect(secondsFor('limit_reached', 1)).toBe(1)
    expect(secondsFor('draining')).toBe(1)
  })

  it('is not told where asking again does not help', () => {
    expect(secondsFor('busy', 1000)).toBeUndefined()
  })
})
