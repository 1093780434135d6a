import { describe, expect, it } from 'vitest'
import { exitCodeOf, outcomeCode } from '../../../src/cli/exit-code.ts'
import { failureText } from '../../../src/cli/failure.ts'
import { HoldfastError } from '../../../src/client/index.ts'

describe('an exit code', () => {
  it.each([
    ['invalid_request', 2],
    ['invalid_input', 2],
    ['unauthenticated', 4],
    ['forbidden_origin', 4],
    ['not_found', 5],
    ['unknown_agent', 5],
    ['busy', 6],
    ['task_terminated', 6],
    ['already_answered', 6],
    ['unreachable', 7],
    ['draining', 7],
    ['store_unavailable', 7],
    ['limit_reached', 1],
    ['internal_error', 1],
  ] as const)('of %s is %i', (code, exitCode) => {
    expect(exitCodeOf(new HoldfastError(code, 'x'))).toBe(exitCode)
  })

  it('of anything else is 1', () => {
    expect([exitCodeOf(new Error('x')), exitCodeOf('x'), exitCodeOf(undefined)]).toEqual([1, 1, 1])
  })

  it('mirrors how a task ended', () => {
    const ends = ['completed', 'failed', 'cancelled'] as const
    expect(ends.map((status) => outcomeCode({ status }))).toEqual([0, 3, 8])
    expect(outcomeCode({ status: 'failed', error: { code: 'timeout', message: 'late' } })).toBe(124)
  })
})

describe('a failure', () => {
  const error = new HoldfastError('not_found', 'There is no\nsuch\u001b[31m task', {
    facts: { requestId: 'r-1', status: 404 },
  })

  it('says what, what to do, and the request id', () => {
    expect(failureText(error, { json: false, quiet: false })).toBe(
      'holdfast: There is no such task\n' +
        '  List what is there with `holdfast ps -a` or `holdfast threads`.\n' +
        '  Request id: r-1\n',
    )
  })

  it('leaves out what to do if nobody wants hints', () => {
    expect(failureText(error, { json: false, quiet: true })).toBe(
      'holdfast: There is no such task\n  Request id: r-1\n',
    )
  })

  it('is a problem document for programs, and says with what the command ends', () => {
    expect(JSON.parse(failureText(error, { json: true, quiet: false }))).toEqual({
      type: 'urn:holdfast:error:not_found',
      title: 'There is no such task',
      status: 404,
      code: 'not_found',
      hint: 'List what is there with `holdfast ps -a` or `holdfast threads`.',
      requestId: 'r-1',
      exitCode: 5,
    })
  })

  it('says another exit code where the command has its own', () => {
    expect(JSON.parse(failureText(error, { json: true, quiet: false, exitCode: 1 }))).toMatchObject({ exitCode: 1 })
  })

  it('of anything else is its message', () => {
    expect(failureText(new TypeError('boom'), { json: false, quiet: false })).toBe('holdfast: boom\n')
    expect(JSON.parse(failureText('boom', { json: true, quiet: false }))).toEqual({
      type: 'about:blank',
      title: 'boom',
      exitCode: 1,
    })
  })
})
