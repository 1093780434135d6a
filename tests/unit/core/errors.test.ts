import { describe, expect, it } from 'vitest'
import {
  assertNever,
  errorCodes,
  HoldfastError,
  invariant,
  isHoldfastError,
  taskErrorCodes,
} from '../../../src/core/errors.ts'

describe('HoldfastError', () => {
  it('carries code, sentence, cause and facts', () => {
    const cause = new Error('disk')
    const error = new HoldfastError('offset_ahead', 'The head is 4', { cause, facts: { head: 4 } })
    expect(error).toMatchObject({ code: 'offset_ahead', message: 'The head is 4', cause, facts: { head: 4 } })
    expect(`${error}`).toBe('HoldfastError: The head is 4')
  })

  it('has no cause and no facts unless they are given', () => {
    const error = new HoldfastError('busy', 'It is busy')
    expect('cause' in error).toBe(false)
    expect(error.facts).toEqual({})
  })
})

describe('isHoldfastError', () => {
  it('tells by name and code, so that another copy of the class counts too', () => {
    class Other extends Error {
      override readonly name = 'HoldfastError'
      readonly code = 'busy'
    }
    expect(isHoldfastError(new Other())).toBe(true)
    expect(isHoldfastError(new Other(), 'busy')).toBe(true)
    expect(isHoldfastError(new Other(), 'not_found')).toBe(false)
    expect(isHoldfastError(new HoldfastError('busy', 'It is busy'), 'busy')).toBe(true)
  })

  it.each([undefined, null, 'busy', { name: 'HoldfastError', code: 'busy' }, new Error('busy')])(
    'says no to %s',
    (value) => {
      expect(isHoldfastError(value)).toBe(false)
    },
  )
})

describe('the codes', () => {
  it('stand once each', () => {
    expect(new Set(errorCodes).size).toBe(errorCodes.length)
    expect(new Set(taskErrorCodes).size).toBe(taskErrorCodes.length)
  })
})

describe('a broken invariant', () => {
  it('is thrown with its sentence', () => {
    expect(() => invariant(false, 'one is less')).toThrow('Broken invariant: one is less')
    expect(() => assertNever('odd' as never)).toThrow('Broken invariant: unexpected "odd"')
    expect(() => invariant(true, 'fine')).not.toThrow()
  })
})
