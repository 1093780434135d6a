import { describe, expect, it } from 'vitest'
import { isHoldfastError } from '../../../src/core/errors.ts'
import { fromFailure, toFailure, translate, translateOpening } from '../../../src/stores/sqlite/failure.ts'

function sqliteError(errcode: number): Error {
  return Object.assign(new Error('from SQLite'), { code: 'ERR_SQLITE_ERROR', errcode })
}

function codeOf(error: unknown): string {
  return isHoldfastError(error) ? error.code : 'another error'
}

describe('an error of SQLite', () => {
  it.each([
    ['BUSY', 5, 'store_unavailable'],
    ['BUSY_SNAPSHOT', 5 | (2 << 8), 'store_unavailable'],
    ['NOMEM', 7, 'store_unavailable'],
    ['READONLY', 8, 'store_unavailable'],
    ['READONLY_DIRECTORY', 8 | (6 << 8), 'store_unavailable'],
    ['IOERR_WRITE', 10 | (3 << 8), 'store_unavailable'],
    ['FULL', 13, 'store_unavailable'],
    ['CANTOPEN', 14, 'store_unavailable'],
    ['IOERR_FSYNC', 10 | (4 << 8), 'store_failed'],
    ['IOERR_DIR_FSYNC', 10 | (5 << 8), 'store_failed'],
    ['CORRUPT', 11, 'store_failed'],
    ['NOTADB', 26, 'store_failed'],
    ['CONSTRAINT_UNIQUE', 19 | (8 << 8), 'another error'],
    ['TOOBIG', 18, 'another error'],
  ])('%s is %i, which means %s', (_, errcode, code) => {
    expect(codeOf(translate(sqliteError(errcode), '/a'))).toBe(code)
  })

  it.each([11, 26])('%i means store_schema while opening', (errcode) => {
    expect(codeOf(translateOpening(sqliteError(errcode), '/a'))).toBe('store_schema')
  })

  it('keeps its code, sentence and cause across threads', () => {
    const error = fromFailure(structuredClone(toFailure(translate(sqliteError(13), '/a'))))
    expect(error).toMatchObject({ code: 'store_unavailable', message: expect.stringContaining('/a does not answer') })
    expect(error.cause).toMatchObject({ message: 'from SQLite' })
  })

  it('of a unit at fault stays an ordinary error across threads', () => {
    const error = fromFailure(structuredClone(toFailure(sqliteError(2067))))
    expect(codeOf(error)).toBe('another error')
    expect(error.message).toBe('from SQLite')
  })
})
