import { readFileSync } from 'node:fs'
import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { ServerClock } from '../../../src/stores/postgres/clock.ts'
import { fromColumn, toColumn } from '../../../src/stores/postgres/column-text.ts'
import { isRefusal, isUnreachable, translate } from '../../../src/stores/postgres/failure.ts'
import { listsOf } from '../../../src/stores/postgres/lists.ts'
import { locate } from '../../../src/stores/postgres/location.ts'

function serverError(code: string, severity = 'ERROR'): Error {
  return Object.assign(new Error('said the server'), { code, severity })
}

describe('what PostgreSQL reports', () => {
  it.each(['23505', '22021', '55P03', '57014', '40001', 'P0001', 'HF001'])(
    'with %s says that nothing was written, in whatever language',
    (code) => {
      expect(isRefusal(serverError(code, 'FEHLER'))).toBe(true)
    },
  )

  it.each(['57P01', '57P02', '08006', '25P03', '25P04', '53100', '58030', 'XX000'])(
    'with %s says nothing of what was written',
    (code) => {
      expect(isRefusal(serverError(code))).toBe(false)
    },
  )

  it('says nothing of what was written if it is not the server that says it', () => {
    const reset = Object.assign(new Error('read ECONNRESET'), { code: 'EPIPE' })
    expect([isRefusal(reset), isRefusal(new Error('Query read timeout'))]).toEqual([false, false])
  })

  it.each<[boolean, Error]>([
    [true, Object.assign(new Error('connect ECONNREFUSED 127.0.0.1:1'), { code: 'ECONNREFUSED', syscall: 'connect' })],
    [true, Object.assign(new Error('getaddrinfo ENOTFOUND db'), { code: 'ENOTFOUND', syscall: 'getaddrinfo' })],
    [
      true,
      new AggregateError([new Error('connect ECONNREFUSED ::1:1'), new Error('connect ECONNREFUSED 127.0.0.1:1')]),
    ],
    [true, new Error('timeout expired')],
    [false, new Error('The server does not support SSL connections')],
    [false, new Error('Query read timeout')],
    [false, Object.assign(new Error('read ECONNRESET'), { code: 'ECONNRESET', syscall: 'read' })],
    [false, serverError('28P01')],
  ])('says that no connection was made, or not: %s of %s', (isUnmade, error) => {
    expect(isUnreachable(translate(error, 'x'))).toBe(isUnmade)
  })

  it('stays the error it is where a unit is at fault, and is store_unavailable where it may pass', () => {
    const wrong = serverError('23505')
    expect(translate(wrong, 'x')).toBe(wrong)
    for (const code of ['40P01', '53300', '57014', '42501', '25006']) {
      expect(translate(serverError(code), 'x')).toMatchObject({ code: 'store_unavailable' })
    }
    expect(translate(new Error('connect ECONNREFUSED'), 'x')).toMatchObject({ code: 'store_unavailable' })
  })

  it.each([
    ['25006', 'takes no writes', 'replica'],
    ['25P03', 'idle_in_transaction_session_timeout', 'network'],
    ['25P04', 'transaction_timeout', 'slows'],
    ['25P02', 'not as expected', 'its log'],
  ])('with %s is told as what it is: %s', (code, finding, advice) => {
    const told = translate(serverError(code), 'x')
    const message = expect.stringMatching(new RegExp(`${finding}.*${advice}.*${code} said the server`))
    expect(told).toMatchObject({ code: 'store_unavailable', message })
    expect(/replica/.test(String(told))).toBe(code === '25006')
  })
})

describe('the clock of a server', () => {
  beforeEach(() => void vi.useFakeTimers({ toFake: ['performance'], now: 0 }))
  afterEach(() => void vi.useRealTimers())

  it('goes on from what the server said, and forward at once when it says more', () => {
    const clock = new ServerClock()
    clock.heard(5_000_000)
    vi.advanceTimersByTime(40)
    expect(clock.now()).toBe(5_000_040)
    clock.heard(5_001_000)
    expect(clock.now()).toBe(5_001_000)
  })

  it('is not put back by an answer that was long on its way, and never goes back', () => {
    const clock = new ServerClock()
    clock.heard(5_000_000)
    vi.advanceTimersByTime(3_000)
    clock.heard(5_000_000)
    expect(clock.now()).toBeGreaterThanOrEqual(5_002_999)
    const before = clock.now()
    for (let n = 0; n < 5_000; n++) clock.heard(4_000_000)
    expect(clock.now()).toBe(before)
  })
})

/** As PostgreSQL reads an array of one dimension. */
function readArray(text: string): (string | null)[] {
  const elements: (string | null)[] = []
  for (const [, quoted, bare] of text.slice(1, -1).matchAll(/(?:"((?:[^"\\]|\\.)*)"|([^,"\\{}\s]+))(?:,|$)/gsu)) {
    if (quoted !== undefined) elements.push(quoted.replaceAll(/\\(.)/gsu, '$1'))
    else elements.push(bare?.toLowerCase() === 'null' ? null : (bare ?? ''))
  }
  return elements
}

describe('rows as lists', () => {
  const text = fc.oneof(
    fc.string({ unit: 'binary' }).map(toColumn),
    fc.constantFrom('', 'NULL', '{}', ',', '"', '\\', '\\"', '\u007f', '\u0080"', '\n'),
  )
  const value = fc.option(
    fc.oneof(text, fc.integer(), fc.double({ noNaN: true, noDefaultInfinity: true }), fc.boolean()),
    {
      nil: undefined,
    },
  )

  it('say of each column what each row has in it, and of what is absent that it is null', () => {
    fc.assert(
      fc.property(fc.array(fc.record({ a: value, b: value })), (rows) => {
        const lists = listsOf(rows)
        for (const name of ['a', 'b'] as const) {
          const given = rows.map((row) => (row[name] === undefined ? null : String(row[name])))
          expect(readArray(lists[name] ?? `{${rows.map(() => 'null').join()}}`)).toEqual(given)
        }
      }),
    )
  })

  it.each(['0002_writes.sql', '0003_commit.sql'])(
    'are read in %s into the columns that they are named after',
    (file) => {
      const sql = readFileSync(new URL(`../../../src/stores/postgres/migrations/${file}`, import.meta.url), 'utf8')
      const named = [...sql.matchAll(/unnest\(\s*(\(\w+ ->> '[^;]*?)\) AS \w+ \(([^)]*)\)/g)]
      expect(named).toHaveLength(sql.match(/unnest\(\s*\(/g)?.length ?? -1)
      for (const [, asked = '', names = ''] of named) {
        const lists = asked.split(',').map((list) => /->> '(\w+)'/.exec(list)?.[1])
        const columns = names.split(',').map((name) =>
          name
            .trim()
            .replaceAll('"', '')
            .replace(/_text$/, ''),
        )
        expect(columns).toEqual(lists.map((list, n) => list ?? columns[n]))
      }
    },
  )

  it('have no list for a column that no row has', () => {
    expect(listsOf([{ a: 1, b: undefined }, { a: undefined }])).toEqual({ a: '{1,null}' })
    expect(listsOf([])).toEqual({})
  })
})

describe('a text in a column', () => {
  it('comes back as it was, holds nothing that PostgreSQL refuses, and is like no other', () => {
    const text = fc.string({
      unit: fc.oneof(fc.string({ unit: 'binary' }), fc.constantFrom('\\', '"', 'u0000', '\ud800', '\0')),
    })
    fc.assert(
      fc.property(text, (given) => {
        const column = toColumn(given)
        expect(fromColumn(column)).toBe(given)
        expect(column.isWellFormed() && !column.includes('\0')).toBe(true)
      }),
    )
  })
})

describe('the URL of a Postgres store', () => {
  it('names the schema, keeps what is for the driver, and is shown without the password', () => {
    const place = locate('postgres://me:secret@db.example:6432/work?schema=mine&sslmode=require')
    expect(place).toEqual({
      connectionString: 'postgres://me:secret@db.example:6432/work?sslmode=require',
      schema: 'mine',
      name: 'postgres://db.example:6432/work?schema=mine',
    })
    expect(locate('postgresql://h/d').schema).toBe('holdfast')
  })
})
