import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { isLongJson, jsonPieces } from '../../../../src/server/websocket/json-pieces.ts'

const anyText = fc.string({ unit: 'binary', maxLength: 100 })
// Halves of pairs that stand alone, and pairs wherever a cut may fall.
const halves = fc.string({ unit: fc.constantFrom('\ud83d', '\ude00', '😀', 'x', '"', '\u0000'), maxLength: 100 })
const anyJson = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    fc.oneof(anyText, halves, fc.double(), fc.boolean(), fc.constant(null), fc.constant(undefined)),
    fc.array(tie('value'), { maxLength: 8 }),
    fc.dictionary(fc.oneof(anyText, halves), tie('value'), { maxKeys: 8 }),
  ),
})).value

describe('JSON in pieces', () => {
  it('is what it is in one, however short the pieces are', () => {
    const known = anyJson.filter((value) => value !== undefined)
    fc.assert(
      fc.property(known, fc.integer({ min: 2, max: 200 }), (value, lengthMax) => {
        expect([...jsonPieces(value, lengthMax)].join('')).toBe(JSON.stringify(value))
      }),
    )
  })

  it('is of pieces that are well-formed by themselves, so that each can be encoded alone', () => {
    fc.assert(
      fc.property(halves, (text) => {
        for (const piece of jsonPieces({ text }, 3)) expect(piece.isWellFormed()).toBe(true)
      }),
    )
  })

  it('has no long piece, whatever it is that is long', () => {
    const long = 'x'.repeat(100_000)
    const wide = Object.fromEntries(Array.from({ length: 10_000 }, (_, n) => [`key-${n}`, n / 7]))
    const values = [long, [long], { long }, { [long]: 1 }, Array.from(long), wide, [[[{ wide }, long]]]]
    for (const value of values) {
      expect([...jsonPieces(value)].filter(({ length }) => length > 8 * 1024)).toEqual([])
    }
    // A control character is six characters of JSON.
    const [, widest = ''] = jsonPieces('\u0000'.repeat(100_000))
    expect(widest.length).toBe(6 * 8 * 1024)
  })

  it('is made when it is asked for', () => {
    const read: number[] = []
    const records = Array.from({ length: 10 }, (_, n) => ({
      get text() {
        read.push(n)
        return 'x'.repeat(5000)
      },
    }))
    const pieces = jsonPieces(records)
    for (let n = 0; n < 4; n += 1) pieces.next()
    expect(Math.max(...read)).toBeLessThan(3)
  })
})

describe('JSON that is deeper than it could be gone down into', () => {
  const nested = (depth: number) => {
    let value: unknown = 'x'.repeat(20)
    for (let n = 0; n < depth; n += 1) value = n % 2 === 0 ? [value] : { value }
    return value
  }

  it('is the same in pieces, and in one from some depth on', () => {
    const value = { long: 'y'.repeat(10_000), deep: nested(2_500) }
    expect([...jsonPieces(value)].join('')).toBe(JSON.stringify(value))
    expect(isLongJson(nested(2_500), 100)).toBe(true)
  })
})

describe('whether JSON is long', () => {
  it('is never said of what has a sixth of that, nor denied of what has twenty-five times as much', () => {
    fc.assert(
      fc.property(anyJson, (value) => {
        const { length } = JSON.stringify(value) ?? ''
        // What is escaped takes up to six times as much, and a number at most 25.
        expect(isLongJson(value, length * 25 + 25)).toBe(false)
        expect(isLongJson(value, Math.floor(length / 6) - 1)).toBe(true)
      }),
    )
  })

  it('is found out without looking at all of it', () => {
    let count = 0
    const record = {
      get text() {
        count += 1
        return 'x'.repeat(100)
      },
    }
    expect(isLongJson(Array(1_000_000).fill(record), 1000)).toBe(true)
    expect(count).toBeLessThan(11)
  })
})
