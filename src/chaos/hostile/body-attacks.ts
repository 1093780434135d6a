import { type Attack, type Attacker, head, pickOf, request } from './attack.ts'
import { nastyTexts, posts, wrongValues } from './words.ts'

/** A body of the right form with wrong contents. */
export function wrongField(attacker: Attacker): Attack {
  const [path, body] = pickOf(attacker, posts)
  const field = pickOf(attacker, Object.keys(body))
  const nasty = pickOf(attacker, nastyTexts)
  const value = pickOf<unknown>(attacker, [...wrongValues, nasty, { [nasty]: nasty }, [nasty]])
  const wrong = attacker.random.chance(0.8) ? { ...body, [field]: value } : { ...body, [nasty]: value, unknown: 1 }
  return { what: 'field', bytes: request(attacker, 'POST', path, [], JSON.stringify(wrong)) }
}

/** JSON that is none, or that a careless reader chokes on. */
export function wrongJson(attacker: Attacker): Attack {
  const [path, body] = pickOf(attacker, posts)
  const right = JSON.stringify(body)
  const depth = pickOf(attacker, [65, 1000, 20_000])
  const text = pickOf(attacker, [
    '{',
    'null',
    '[]',
    '"text"',
    '{}{}',
    `${right}}`,
    right.slice(0, -1),
    `\ufeff${right}`,
    '['.repeat(depth),
    `${'['.repeat(depth)}${']'.repeat(depth)}`,
    `${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}`,
    `{"agent":"echo","input":${'['.repeat(200)}${']'.repeat(200)}}`,
    right.replace('{', '{"__proto__":{"isAdmin":true},'),
    right.replace('{', '{"constructor":{"prototype":{"isAdmin":true}},'),
    right.replace('{', '{"agent":"echo","agent":"script",'),
    '{"agent":"echo","input":1e999}',
    `{"agent":"echo","input":${'9'.repeat(400)}}`,
    '{"agent":"echo","prompt":"\\ud800"}',
    '{"agent":"echo","prompt":"\\u0000"}',
    `{"agent":"echo","prompt":"a",${Array.from({ length: 2_000 }, (_, n) => `"k${n}":1`).join()}}`,
    "{'agent': 'echo'}",
    '{"agent":NaN}',
  ])
  return { what: 'json', bytes: request(attacker, 'POST', path, [['Content-Type', 'application/json']], text) }
}

const badUtf8: readonly (readonly number[])[] = [
  [0xff],
  [0xc0, 0xaf],
  [0xe2, 0x82],
  [0xed, 0xa0, 0x80],
  [0xf4, 0x90, 0x80, 0x80],
]

export function badText(attacker: Attacker): Attack {
  const [path] = pickOf(attacker, posts)
  const bad = Buffer.from(pickOf(attacker, badUtf8))
  const body = Buffer.concat([Buffer.from('{"agent":"echo","prompt":"'), bad, Buffer.from('"}')])
  return { what: 'utf-8', bytes: Buffer.concat([head(attacker, 'POST', path, [], body.length), body]) }
}

/** More than may be, or what is announced as that; sometimes all of it comes. */
export function hugeBody(attacker: Attacker): Attack {
  const [path] = pickOf(attacker, posts)
  const part = Buffer.alloc(64 * 1024, 'x')
  const announced = head(attacker, 'POST', path, [], 100_000_000)
  const chunked = head(attacker, 'POST', path, [['Transfer-Encoding', 'chunked']], 0)
  const chunk = Buffer.concat([Buffer.from(`${part.length.toString(16)}\r\n`), part, Buffer.from('\r\n')])
  const some = part.subarray(0, attacker.random.below(part.length))
  const which = attacker.random.weighted({ left: 8, leftChunked: 4, flood: 1, floodChunked: 1 })
  const what = `huge body, ${which}`
  if (which === 'left') return { what, bytes: Buffer.concat([announced, some]), leaves: true }
  if (which === 'leftChunked') return { what, bytes: Buffer.concat([chunked, some]), leaves: true }
  return which === 'flood' ? { what, bytes: announced, flood: part } : { what, bytes: chunked, flood: chunk }
}
