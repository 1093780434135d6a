import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { builtInKey, contains, encodeKey, pathsAround, StepKeys } from '../../../src/core/step.ts'
import { codeOf } from './thrown.ts'

const anyKey = fc.oneof(
  fc.string({ minLength: 1, maxLength: 200, unit: 'binary' }),
  fc.string({ minLength: 1, maxLength: 12, unit: fc.constantFrom('a', '~', '%', '/', '#', '2', '5', '\t', '\ud800') }),
)
const shortKey = anyKey.filter((key) => key.length <= 200)

describe('encodeKey', () => {
  it.each([
    ['fetch page', 'fetch page'],
    ['größe', 'größe'],
    ['😀', '😀'],
    ['a/b', 'a%2Fb'],
    ['a#2', 'a%232'],
    ['100%', '100%25'],
    ['~sleep', '%7Esleep'],
    ['a~b~', 'a~b~'],
    ['~~', '%7E~'],
    ['a\tb\nc\rd\u0000', 'a%09b%0Ac%0Dd%00'],
    ['\u007f\u0085', '%7F%85'],
    ['x\ud800y\udc00', 'x%uD800y%uDC00'],
  ])('writes %j as %j', (key, encoded) => {
    expect(encodeKey(key)).toBe(encoded)
  })

  it('takes keys of 1 to 200 characters', () => {
    expect(encodeKey('k'.repeat(200))).toHaveLength(200)
    expect(codeOf(() => encodeKey('k'.repeat(201)))).toBe('invalid_request')
    expect(codeOf(() => encodeKey(''))).toBe('invalid_request')
    expect(codeOf(() => encodeKey(undefined as unknown as string))).toBe('invalid_request')
  })

  it('makes a text that paths, log lines and databases can hold', () => {
    fc.assert(
      fc.property(shortKey, (key) => {
        const encoded = encodeKey(key)
        expect(encoded).not.toMatch(/[/#\p{Cc}]|^~/u)
        expect(encoded.isWellFormed()).toBe(true)
      }),
    )
  })

  it('gives two keys two texts', () => {
    fc.assert(fc.property(shortKey, shortKey, (a, b) => (encodeKey(a) === encodeKey(b)) === (a === b)))
  })
})

describe('builtInKey', () => {
  it('begins with ~ and escapes what it is about', () => {
    expect(builtInKey('sleep')).toBe('~sleep')
    expect(builtInKey('wait', 'bg_3')).toBe('~wait:bg_3')
    expect(builtInKey('wait', 'old/task#1\n')).toBe('~wait:old%2Ftask%231%0A')
  })

  it('never equals a key of a user', () => {
    fc.assert(fc.property(shortKey, (key) => encodeKey(`~${key}`.slice(0, 200)) !== builtInKey(key)))
  })
})

describe('StepKeys', () => {
  it('numbers the uses of a path from the second on', () => {
    const keys = new StepKeys()
    expect([keys.take(undefined, 'a'), keys.take(undefined, 'a'), keys.take(undefined, 'a')]).toEqual([
      'a',
      'a#2',
      'a#3',
    ])
  })

  it('counts per scope', () => {
    const keys = new StepKeys()
    const paths = [
      keys.take(undefined, 'a'),
      keys.take('a', 'b'),
      keys.take('a', 'b'),
      keys.take(undefined, 'a'),
      keys.take('a#2', 'b'),
      keys.take(undefined, 'b'),
    ]
    expect(paths).toEqual(['a', 'a/b', 'a/b#2', 'a#2', 'a#2/b', 'b'])
  })

  it('never gives a path twice', () => {
    const use = fc.tuple(fc.option(shortKey, { nil: undefined }), shortKey)
    fc.assert(
      fc.property(fc.array(use, { maxLength: 30 }), (uses) => {
        const keys = new StepKeys()
        const paths = uses.map(([outer, key]) => {
          const scope = outer === undefined ? undefined : keys.take(undefined, encodeKey(outer))
          return [scope ?? '', keys.take(scope, encodeKey(key))]
        })
        const all = paths.flat().filter((path) => path !== '')
        expect(new Set(all).size).toBe(all.length)
      }),
    )
  })
})

describe('contains', () => {
  it.each([
    ['a', 'a/b', true],
    ['a', 'a/b/c', true],
    ['a/b', 'a/b/c', true],
    ['a', 'a', false],
    ['a/b', 'a', false],
    ['a', 'a#2/b', false],
    ['a', 'ab/c', false],
    ['b', 'a/b', false],
  ])('of %s and %s is %s', (outer, inner, expected) => {
    expect(contains(outer, inner)).toBe(expected)
  })

  it('holds for exactly the paths around a path', () => {
    expect(pathsAround('a/b#2/c')).toEqual(['a', 'a/b#2'])
    expect(pathsAround('a')).toEqual([])
    const path = fc
      .array(fc.constantFrom('a', 'b', 'a#2'), { minLength: 1, maxLength: 4 })
      .map((keys) => keys.join('/'))
    fc.assert(fc.property(path, path, (outer, inner) => contains(outer, inner) === pathsAround(inner).includes(outer)))
  })
})
