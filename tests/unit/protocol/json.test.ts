import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { parseJson } from '../../../src/protocol/json.ts'

const refused = (text: string): string => {
  try {
    parseJson(text, 64)
  } catch (error) {
    expect(error).toMatchObject({ code: 'invalid_request' })
    return (error as Error).message
  }
  throw new Error(`${text} is taken`)
}

describe('parseJson', () => {
  it('parses whatever JSON.stringify writes, and to the same value', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 6 }), (value) => {
        // A key of that name is refused on purpose.
        fc.pre(!JSON.stringify(value).includes('__proto__'))
        expect(parseJson(JSON.stringify(value), 64)).toEqual(JSON.parse(JSON.stringify(value)))
        expect(parseJson(JSON.stringify(value, null, 2), 64)).toEqual(JSON.parse(JSON.stringify(value)))
      }),
    )
  })

  it('takes no text that JSON.parse does not take, and fails by no other error', () => {
    const scrap = fc.constantFrom(
      '{',
      '}',
      '[',
      ']',
      '"',
      '\\',
      ',',
      ':',
      '1',
      '-',
      'e',
      '9',
      'true',
      ' ',
      '\n',
      'a',
      '\u0000',
    )
    fc.assert(
      fc.property(
        fc.array(scrap, { maxLength: 12 }).map((parts) => parts.join('')),
        (text) => {
          let isTaken = true
          try {
            parseJson(text, 4)
          } catch (error) {
            isTaken = false
            expect(error).toMatchObject({ code: 'invalid_request' })
          }
          if (isTaken) expect(() => JSON.parse(text)).not.toThrow()
        },
      ),
      { numRuns: 2000 },
    )
  })

  it.each([
    '{"a":1,"a":2}',
    '{"a":1,"b":{},"a":2}',
    '[{"x":{"k":1,"k":1}}]',
    '{"a":1,"\\u0061":2}',
    '{"":1,"":2}',
    '{"a":["a",{"a":1}],"a":2}',
    '{ "a" : "b" , "a" : 1 }',
  ])('refuses the repeated key in %s', (text) => {
    expect(refused(text)).toMatch(/twice/)
  })

  it.each(['{"a":"a","b":["a","a","b"]}', '[{"a":1},{"a":1}]', '{"a":{"a":{"a":1}}}', '["\\"",{"a":"{\\"a\\":1,"}]'])(
    'takes %s, in which no object has a key twice',
    (text) => {
      expect(parseJson(text, 64)).toEqual(JSON.parse(text))
    },
  )

  it.each(['{"__proto__":{}}', '[{"a":{"__proto__":1}}]', '{"\\u005f_proto__":1}'])('refuses the key in %s', (text) => {
    expect(refused(text)).toMatch(/__proto__/)
  })

  it('takes __proto__ as a value', () => {
    expect(parseJson('["__proto__"]', 64)).toEqual(['__proto__'])
  })

  it('counts depth in objects and lists alike, and takes exactly as much as allowed', () => {
    const nested = (depth: number) => `${'[{"a":'.repeat(depth / 2)}1${'}]'.repeat(depth / 2)}`
    expect(parseJson(nested(64), 64)).toBeDefined()
    expect(refused(nested(66))).toMatch(/deeper than 64/)
    expect(refused('['.repeat(1_000_000))).toMatch(/deeper than 64/)
    expect(parseJson('"[[[["', 0)).toBe('[[[[')
  })

  it.each(['1e999', '-1e999', '[1e400]', `{"a":${'9'.repeat(400)}}`])(
    'refuses the number that no number holds in %s',
    (text) => {
      expect(refused(text)).toMatch(/too large/)
    },
  )

  it.each([
    '',
    ' ',
    '{',
    '"',
    '"\\"',
    '{"a":1',
    '{a:1}',
    "{'a':1}",
    '[1,]',
    '01',
    '+1',
    'NaN',
    '// x\n1',
    '{"\\x":1}',
    '\u0000',
  ])('refuses %j, which is not JSON, without repeating it', (text) => {
    expect(refused(text)).toBe('The body is not valid JSON')
  })
})
