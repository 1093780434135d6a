import { describe, expect, it } from 'vitest'
import { redactor } from '../../../../src/cli/serving/redact.ts'

const redact = redactor(['s3cret"\\token', 'level'])

function logged(facts: object): string {
  return redact(`${JSON.stringify(facts)}\n`)
}

describe('a line of the log', () => {
  it('without a secret stays as it is', () => {
    const line = '{"time": 1, "msg":"nothing  to hide"}\n'
    expect(redact(line)).toBe(line)
  })

  it.each([
    { msg: 'asked with s3cret"\\token in it' },
    { deep: [{ er: { stack: 'x s3cret"\\token' } }] },
    { body: JSON.stringify({ text: 's3cret"\\token' }) },
    { body: JSON.stringify({ body: JSON.stringify({ text: 's3cret"\\token' }) }) },
    { headers: { Authorization: 'Basic abc' } },
    { req: { headers: { cookie: 'theme=dark', 'set-cookie': ['a', 'b'] } } },
    { token: 'abc' },
    { tokens: { alice: 'abc' } },
    { msg: 'Authorization: Bearer abcDEF._-~+/=' },
    { msg: 'holdfast.v1, bearer.YWJjREVG' },
    { msg: 'cookie holdfast=YWJj.1800000000000.abcDEF-_' },
    { msg: 'http://localhost:4747/console#login=abcDEF-_' },
  ])('loses the secret of %j', (facts) => {
    const line = logged({ ...facts, other: 'kept' })
    expect(line).not.toMatch(/s3cret|abc|YWJj|theme=dark|"a"/)
    expect(line).toContain('[redacted]')
    expect(JSON.parse(line)).toMatchObject({ other: 'kept' })
    expect(line.indexOf('\n')).toBe(line.length - 1)
  })

  it('that is no JSON becomes one without the secret', () => {
    expect(JSON.parse(redact('{"x":oops Bearer abc}\n'))).toEqual({ msg: expect.stringContaining('oops') })
    expect(redact('{"x":oops Bearer abc}\n')).not.toContain('abc')
  })

  it('loses all of a secret that another one is a part of', () => {
    const both = redactor(['the-first', 'the-first-and-more'])
    expect(both('{"msg":"the-first-and-more, the-first"}\n')).toBe('{"msg":"[redacted], [redacted]"}\n')
  })

  it('loses the secret that something is kept under, as it stands and as JSON writes it', () => {
    const long = redactor(['a-long-"secret"-indeed'])
    const facts = { 'a-long-"secret"-indeed': 1, [JSON.stringify('a-long-"secret"-indeed')]: 2 }
    expect(long(`${JSON.stringify(facts)}\n`)).toBe('{"[redacted]":1,"\\"[redacted]\\"":2}\n')
  })

  it('keeps its names, even when one is also a token', () => {
    expect(JSON.parse(logged({ level: 30, msg: 'the level' }))).toEqual({ level: 30, msg: 'the [redacted]' })
  })
})
