import type { Attack } from './attack.ts'
import { type Attacker, pickOf, request } from './http-attacks.ts'
import { nastyTexts, posts } from './words.ts'

const wrongValues: readonly unknown[] = [null, true, 0, -1, 1.5, 1e300, '', [], {}, [[]], [null], { a: { b: [] } }]

/** A body of the right form with wrong contents. */
export function wrongField(attacker: Attacker): Attack {
  const [path, body] = pickOf(attacker, posts)
  const field = pickOf(attacker, Object.keys(body))
  const nasty = pickOf(attacker, nastyTexts)
  const value = pickOf<unknown>(attacker, [...wrongValues, nasty, { [nasty]: nasty }, [nasty]])
  const text = JSON.stringify(
    attacker.random.chance(0.8) ? { ...body, [field]: value } : { ...body, [nasty]: value, unknown: 1 },
  )
  return { what: 'field', bytes: request(attacker, 'POST', path, [], text) }
}

/** JSON that is none, or that a careless reader chokes on. */
export function wrongJson(attacker: Attacker): Attack {
  const [path, body] = pickOf(attacker, posts)
  const right = JSON.stringify(body)
  const depth = pickOf(attacker, [65, 1000, 100_000])
  const text = pickOf(attacker, [
    '',
    '{',
    'null',
    '[]',
    '"text"',
    '1',
    '{}{}',
    `${right}}`,
    right.slice(0, -1),
    `\ufeff${right}`,
    '['.repeat(depth),
    `${'['.repeat(depth)}${']'.repeat(depth)}`,
    `${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}`,
    `{"agent":"echo","prompt":"a","metadata":${'{"a":'.repeat(70)}1${'}'.repeat(70)}}`,
    `{"agent":"echo","input":${'['.repeat(200)}${']'.repeat(200)}}`,
    right.replace('{', '{"__proto__":{"isAdmin":true},'),
    right.replace('{', '{"constructor":{"prototype":{"isAdmin":true}},'),
    right.replace('{', '{"\\u005f_proto__":1,'),
    right.replace('{', '{"agent":"echo","agent":"script",'),
    right.replace('{', '{"metadata":{"a":1,"a":2},'),
    '{"agent":"echo","input":1e999}',
    '{"agent":"echo","input":-0}',
    `{"agent":"echo","input":${'9'.repeat(400)}}`,
    '{"agent":"echo","prompt":"\\ud800"}',
    '{"agent":"echo","prompt":"\\u0000"}',
    `{"agent":"echo","prompt":"${'x'.repeat(900_000)}"}`,
    `{"agent":"echo","prompt":"${'x'.repeat(1_100_000)}"}`,
    `{"agent":"echo","input":[${'1,'.repeat(200_000)}1]}`,
    `{"agent":"echo","prompt":"a",${Array.from({ length: 20_000 }, (_, n) => `"k${n}":1`).join()}}`,
    "{'agent': 'echo'}",
    '{"agent":"echo",}',
    '{"agent":NaN}',
    '// comment\n{}',
  ])
  return { what: 'json', bytes: request(attacker, 'POST', path, [['Content-Type', 'application/json']], text) }
}

const badUtf8: readonly (readonly number[])[] = [
  [0xff],
  [0xc0, 0xaf],
  [0xe2, 0x82],
  [0xed, 0xa0, 0x80],
  [0xf8, 0x88, 0x80, 0x80, 0x80],
  [0xf4, 0x90, 0x80, 0x80],
  [0x80],
]

export function badText(attacker: Attacker): Attack {
  const [path] = pickOf(attacker, posts)
  const bytes = Buffer.concat([
    Buffer.from('{"agent":"echo","prompt":"'),
    Buffer.from(pickOf(attacker, badUtf8)),
    Buffer.from('"}'),
  ])
  // One character of the placeholder is one byte.
  const head = request(attacker, 'POST', path, [], 'x'.repeat(bytes.length)).subarray(0, -bytes.length)
  return { what: 'utf-8', bytes: Buffer.concat([head, bytes]) }
}

/** 100 MB, announced or not, of which some is sent. */
export function hugeBody(attacker: Attacker): Attack {
  const [path] = pickOf(attacker, posts)
  const { host, token, random } = attacker
  const head = `POST ${path} HTTP/1.1\r\nHost: ${host}\r\nAuthorization: Bearer ${token}\r\n`
  const part = Buffer.alloc(64 * 1024, 'x')
  const chunk = Buffer.concat([Buffer.from(`${part.length.toString(16)}\r\n`), part, Buffer.from('\r\n')])
  const length = pickOf(attacker, ['100000000', String(900_000)])
  const announced = Buffer.from(`${head}Content-Length: ${length}\r\n\r\n{"prompt":"`)
  const chunked = Buffer.from(`${head}Transfer-Encoding: chunked\r\n\r\n`)
  const which = random.weighted({ cut: 6, cutChunked: 3, flood: 1, floodChunked: 1 })
  const what = 'huge body'
  if (which === 'cut')
    return { what, bytes: Buffer.concat([announced, part.subarray(0, random.below(part.length))]), isCutEarly: true }
  if (which === 'cutChunked')
    return { what, bytes: Buffer.concat([chunked, chunk.subarray(0, random.below(chunk.length))]), isCutEarly: true }
  if (which === 'floodChunked') return { what, bytes: chunked, flood: chunk }
  return { what, bytes: Buffer.from(`${head}Content-Length: 100000000\r\n\r\n`), flood: part }
}
