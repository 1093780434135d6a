import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { errorCodes } from '../../../src/core/errors.ts'
import { openSite, type TestSite } from './site.ts'

const ids = [
  't',
  'bg_0',
  'bg_1',
  'q_1',
  '..',
  '%2e%2e',
  '%00',
  '%zz',
  '%F0%9F%92%A9',
  'a%0d%0ab',
  "' OR 1=1 --",
  '\u2028',
]

const segment = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.constantFrom('v1', 'threads', 'tasks', 'runs', 'cancel', 'results', 'collect', 'messages'),
  },
  {
    weight: 2,
    arbitrary: fc.constantFrom('questions', 'answer', 'agents', 'limits', 'login', 'logout', 'ws', 'healthz'),
  },
  { weight: 3, arbitrary: fc.constantFrom(...ids) },
  fc.string({ unit: 'binary', maxLength: 12 }).map(encodeLoosely),
  fc.string({ maxLength: 200 }).map(encodeLoosely),
)

const knownPath = fc
  .tuple(
    fc.constantFrom('threads', 'tasks', 'questions'),
    fc.constantFrom(...ids),
    fc.constantFrom(
      '',
      '/runs',
      '/tasks',
      '/cancel',
      '/messages',
      '/results',
      '/results/collect',
      '/answer',
      '/events',
    ),
  )
  .map(([kind, id, rest]) => `/v1/${kind}/${encodeLoosely(id)}${rest}`)

const path = fc.oneof(
  { weight: 3, arbitrary: knownPath },
  fc.array(segment, { maxLength: 6 }).map((parts) => `/${parts.join('/')}`),
)

const word = fc.oneof(
  fc.constantFrom(
    '',
    '0',
    '1',
    '-1',
    '1e3',
    '9007199254740993',
    'null',
    'running',
    'cursor',
    '1.2.3',
    '1/x',
    '%',
    'NaN',
  ),
  fc.string({ unit: 'binary', maxLength: 20 }),
)
const query = fc
  .array(
    fc.tuple(
      fc.constantFrom('limit', 'after', 'cursor', 'status', 'thread', 'name', 'type', 'parent', '__proto__'),
      word,
    ),
    {
      maxLength: 4,
    },
  )
  .map((pairs) => pairs.map(([name, value]) => `${name}=${encodeLoosely(value)}`).join('&'))

const field = fc.constantFrom(
  ...[
    'agent',
    'prompt',
    'parts',
    'input',
    'description',
    'onBusy',
    'onResult',
    'timeoutMs',
    'metadata',
    'type',
    'name',
  ],
  ...['parent', 'detached', 'scope', 'reason', 'tree', 'content', 'from', 'tasks', 'answer', 'token', 'code'],
  ...['constructor', 'toString', '__proto__', 'then', 'toJSON', '\u0000', ''],
)
const value = fc.oneof(
  fc.constantFrom(
    'echo',
    'held',
    'script',
    'steer',
    'interrupt',
    'wake',
    'all',
    'bg_0',
    'x\r\ny',
    '\ud800',
    1,
    -1,
    true,
  ),
  fc.constant([{ type: 'text', text: 'x' }]),
  fc.constant({ script: [{ say: 'x' }, { hang: true }] }),
  fc.jsonValue({ maxDepth: 3 }),
)
const body = fc.oneof(
  { weight: 4, arbitrary: fc.dictionary(field, value, { maxKeys: 6 }).map((object) => JSON.stringify(object)) },
  fc.json(),
  fc.string({ unit: 'binary', maxLength: 60 }),
  fc.uint8Array({ maxLength: 60 }),
  fc.integer({ min: 1, max: 5000 }).map((depth) => '['.repeat(depth)),
  fc.constantFrom('{"a":1,"a":1}', '{"__proto__":{}}', '1e999', '', ' '),
)

const headers = fc.dictionary(
  fc.constantFrom(
    'content-type',
    'accept',
    'idempotency-key',
    'traceparent',
    'x-request-id',
    'last-event-id',
    'cookie',
    'origin',
  ),
  fc.string({ unit: fc.constantFrom('a', '0', ' ', ',', ';', '=', '/', '*', '"', '\\', '-', '\u00ff'), maxLength: 20 }),
  { maxKeys: 3 },
)

/** As a careless client would: what is escaped already stays so. */
function encodeLoosely(text: string): string {
  return text.replaceAll(/[^\w%.~-]/gu, (character) =>
    /[\ud800-\udfff]$/.test(character) && character.length === 1 ? '%ED%A0%80' : encodeURIComponent(character),
  )
}

async function checkAnswer(site: TestSite, answer: Awaited<ReturnType<TestSite['ask']>>): Promise<void> {
  expect(answer.status).toBeGreaterThanOrEqual(200)
  expect(answer.status).toBeLessThan(500)
  expect(answer.headers.get('x-request-id')).toMatch(/^[A-Za-z0-9._:@~-]{1,128}$/)
  expect(site.logged.filter(({ level }) => level === 'error')).toEqual([])
  if (answer.status < 400 || answer.text === '') return
  expect(errorCodes).toContain(answer.body['code'])
  expect(answer.text).not.toMatch(/node_modules|\.ts:|at .*\(|SELECT|INSERT/)
}

describe('hostile requests', () => {
  it('are all answered, and never with 500 or more', async () => {
    const site = await openSite({ limits: { bodyBytes: 4096 }, graceMs: 1 })
    const method = fc.constantFrom('GET', 'HEAD', 'POST', 'POST', 'POST', 'PUT', 'DELETE', 'PATCH', 'OPTIONS')
    await fc.assert(
      fc.asyncProperty(method, path, query, body, headers, async (verb, where, what, rawBody, extra) => {
        const hasBody = verb !== 'GET' && verb !== 'HEAD'
        const asked = `${where}${what === '' ? '' : `?${what}`}`
        const answer = await site.ask(verb, asked, { headers: extra, ...(hasBody && { rawBody }) })
        await checkAnswer(site, answer)
      }),
      { numRuns: 2000 },
    )
    expect((await site.ask('GET', '/readyz')).status).toBe(200)
    await site.ask('POST', '/v1/threads/t/cancel', { body: { scope: 'all' } })
  }, 60_000)

  it('for work are answered with 202 or told what is wrong with them', async () => {
    const site = await openSite({ limits: { bodyBytes: 4096 }, graceMs: 1 })
    const work = fc.record(
      { agent: fc.constantFrom('echo', 'script', 'held'), prompt: value, onBusy: value, metadata: value },
      { requiredKeys: ['agent'] },
    )
    await fc.assert(
      fc.asyncProperty(work, fc.dictionary(field, value, { maxKeys: 2 }), async (ask, more) => {
        const answer = await site.ask('POST', '/v1/threads/t/runs', { body: { ...ask, ...more } })
        await checkAnswer(site, answer)
        expect([202, 400, 409, 413, 422, 429]).toContain(answer.status)
      }),
      { numRuns: 1000 },
    )
    await site.ask('POST', '/v1/threads/t/cancel', { body: { scope: 'all' } })
  }, 60_000)
})
