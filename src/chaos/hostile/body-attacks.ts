import { type Attack, type Attacker, head, leaving, pickOf, request } from './attack.ts'
import { badUtf8, nastyTexts, posts, wrongValues } from './words.ts'

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
    `{"agent":"echo","prompt":"a",${Array.from({ length: 2_000 }, (_, n) => `"k${n}":1`).join()}}`,
    "{'agent': 'echo'}",
    '{"agent":"echo",}',
    '{"agent":NaN}',
    '// comment\n{}',
  ])
  return { what: 'json', bytes: request(attacker, 'POST', path, [['Content-Type', 'application/json']], text) }
}

// Made once: whoever makes them anew each time is busier than whoever has to read them.
const longTexts: readonly string[] = [
  '['.repeat(100_000),
  `${'['.repeat(100_000)}${']'.repeat(100_000)}`,
  `${'{"a":'.repeat(100_000)}1${'}'.repeat(100_000)}`,
  `{"agent":"echo","prompt":"${'x'.repeat(900_000)}"}`,
  `{"agent":"echo","prompt":"${'x'.repeat(1_100_000)}"}`,
  `{"agent":"echo","input":[${'1,'.repeat(200_000)}1]}`,
  `{"agent":"echo","prompt":"a",${Array.from({ length: 20_000 }, (_, n) => `"k${n}":1`).join()}}`,
]

/** JSON of about as much as a body may be. */
export function longJson(attacker: Attacker): Attack {
  const [path] = pickOf(attacker, posts)
  const headers = [['Content-Type', 'application/json']] as const
  return { what: 'long json', bytes: request(attacker, 'POST', path, headers, pickOf(attacker, longTexts)) }
}

export function badText(attacker: Attacker): Attack {
  const [path] = pickOf(attacker, posts)
  const bad = Buffer.from(pickOf(attacker, badUtf8))
  const body = Buffer.concat([Buffer.from('{"agent":"echo","prompt":"'), bad, Buffer.from('"}')])
  return { what: 'utf-8', bytes: Buffer.concat([head(attacker, 'POST', path, [], body.length), body]) }
}

/** 100 MB, announced or not, of which some or all comes; or a body that may be, of which the end does not. */
export function hugeBody(attacker: Attacker): Attack {
  const { random } = attacker
  const [path] = pickOf(attacker, posts)
  const part = Buffer.alloc(64 * 1024, 'x')
  const chunk = Buffer.concat([Buffer.from(`${part.length.toString(16)}\r\n`), part, Buffer.from('\r\n')])
  const chunked = head(attacker, 'POST', path, [['Transfer-Encoding', 'chunked']], 0)
  const announced = (length: number) => head(attacker, 'POST', path, [], length)
  const which = random.weighted({ left: 6, leftChunked: 3, flood: 1, floodChunked: 1 })
  const what = `huge body, ${which}`
  if (which === 'flood') return { what, bytes: announced(100_000_000), flood: part }
  if (which === 'floodChunked') return { what, bytes: chunked, flood: chunk }
  const begun = which === 'left' ? announced(pickOf(attacker, [100_000_000, 900_000])) : chunked
  const rest = which === 'left' ? part : chunk
  return { what, bytes: Buffer.concat([begun, rest.subarray(0, random.below(rest.length))]), leaves: leaving(attacker) }
}
