import type { SeededRandom } from '../../../src/chaos/seeded-random.ts'
import type { Attack } from './attack.ts'
import { nastyTexts, paths, posts, wrongNumbers } from './words.ts'

/** Who attacks: the same, though not every time, with a token that is right. */
export interface Attacker {
  readonly random: SeededRandom
  readonly host: string
  readonly token: string
}

export function pickOf<Item>({ random }: Attacker, items: readonly Item[]): Item {
  return random.pick(items) as Item
}

type Headers = readonly (readonly [name: string, value: string])[]

/** A request whose form is right, unless a header makes it wrong. Bytes above 255 go out as UTF-8. */
export function request(attacker: Attacker, method: string, path: string, headers: Headers = [], body = ''): Buffer {
  const { host, token, random } = attacker
  const authorization = random.chance(0.85) ? `Authorization: Bearer ${token}\r\n` : ''
  const length = body === '' ? '' : `Content-Length: ${Buffer.byteLength(body)}\r\n`
  const lines = headers.map(([name, value]) => `${name}: ${value}\r\n`).join('')
  return Buffer.from(
    `${method} ${path} HTTP/1.1\r\nHost: ${host}\r\n${authorization}${lines}${length}Connection: close\r\n\r\n${body}`,
  )
}

/** What no parser of HTTP takes. */
export function malformed(attacker: Attacker): Attack {
  const { host, random } = attacker
  const head = `Host: ${host}\r\nAuthorization: Bearer ${attacker.token}\r\n`
  const post = `POST /v1/threads/t/runs HTTP/1.1\r\n${head}`
  const text = pickOf(attacker, [
    `${'\u0000\u0001'.repeat(50)}\r\n\r\n`,
    'GET\r\n\r\n',
    'GET / HTTP/9.9\r\n\r\n',
    'get /v1/threads HTTP/1.1\r\n\r\n',
    'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n',
    `GET /v1/threads HTTP/1.1\n${head}\n\n`,
    `GET /v1/threads HTTP/1.1\r\n${head}No colon\r\n\r\n`,
    `GET /v1/threads HTTP/1.1\r\n${head}X: a\u0000b\r\n\r\n`,
    `GET /v1/threads HTTP/1.1\r\n${head}X: a\r\n folded\r\nConnection: close\r\n\r\n`,
    `GET /v1/threads HTTP/1.1\r\n${head}X : space\r\n\r\n`,
    'GET /v1/threads HTTP/1.1\r\n\r\n',
    `GET /v1/threads HTTP/1.1\r\nHost: a\r\n${head}Connection: close\r\n\r\n`,
    `GET /v1/threads HTTP/1.0\r\n${head}\r\n`,
    `GET http://evil.test/v1/threads HTTP/1.1\r\n${head}Connection: close\r\n\r\n`,
    `GET http://[::bad/v1 HTTP/1.1\r\n${head}Connection: close\r\n\r\n`,
    `CONNECT evil.test:443 HTTP/1.1\r\n${head}\r\n`,
    `OPTIONS * HTTP/1.1\r\n${head}Connection: close\r\n\r\n`,
    `GET ${'/a'.repeat(20_000)} HTTP/1.1\r\n${head}\r\n`,
    `${post}Content-Length: 5\r\nContent-Length: 6\r\n\r\n{}{}{}`,
    `${post}Content-Length: -1\r\n\r\n{}`,
    `${post}Content-Length: 99999999999999999999\r\n\r\n{}`,
    `${post}Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`,
    `${post}Transfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n`,
    `${post}Transfer-Encoding: chunked\r\n\r\nzz\r\n{}\r\n0\r\n\r\n`,
    `${post}Transfer-Encoding: chunked\r\n\r\nffffffffffffffffff\r\n{}`,
    `${post}Transfer-Encoding: chunked\r\nConnection: close\r\n\r\n2;${'x'.repeat(20_000)}\r\n{}\r\n0\r\n\r\n`,
    `${post}Expect: something\r\nContent-Length: 2\r\nConnection: close\r\n\r\n{}`,
    `GET /v1/threads HTTP/1.1\r\n${head}Upgrade: h2c\r\nConnection: upgrade, close\r\n\r\n`,
    `${Buffer.from(Array.from({ length: 200 }, () => random.below(256))).toString('latin1')}\r\n\r\n`,
  ])
  return { what: 'malformed', bytes: Buffer.from(text, 'latin1') }
}

export function wrongPath(attacker: Attacker): Attack {
  const nasty = pickOf(attacker, nastyTexts)
  const path = pickOf(attacker, [
    '//v1/threads',
    '/v1//threads',
    '/v1/threads/',
    '/V1/THREADS',
    '/v1/../v1/threads',
    '/v1/threads/..%2f..%2fetc',
    '/v1/threads/%2e%2e/%2e%2e',
    '/v1/threads/%00',
    '/v1/threads/%ff%fe',
    '/v1/threads/%',
    '/v1/threads/%zz/events',
    '/v1/threads/a;b=c',
    '/v1\\threads\\t',
    '/v1/threads?%',
    '/v1/threads?cursor=%ff',
    `/v1/threads/${'a'.repeat(8000)}`,
    `/v1/threads/${encodeURIComponent(wellFormed(nasty))}/runs`,
    `/v1/threads/${encodeURIComponent(wellFormed(nasty))}/events`,
    `/v1/tasks/${encodeURIComponent(wellFormed(nasty))}`,
    `/v1/questions/${encodeURIComponent(wellFormed(nasty))}/answer`,
    `/${encodeURIComponent(wellFormed(nasty))}`,
    '/v1/threads/t/events#fragment',
    '/v1/threads/é',
    '/console/../../../../etc/passwd',
    '/.git/config',
  ])
  return { what: 'path', bytes: request(attacker, pickOf(attacker, ['GET', 'POST', 'DELETE']), path) }
}

export function wrongMethod(attacker: Attacker): Attack {
  const method = pickOf(attacker, [
    'PUT',
    'PATCH',
    'DELETE',
    'HEAD',
    'OPTIONS',
    'TRACE',
    'POST',
    'GET',
    'PROPFIND',
    'FOO',
  ])
  return { what: 'method', bytes: request(attacker, method, pickOf(attacker, paths)) }
}

export function wrongQuery(attacker: Attacker): Attack {
  const number = encodeURIComponent(pickOf(attacker, wrongNumbers))
  const nasty = encodeURIComponent(wellFormed(pickOf(attacker, nastyTexts)))
  const query = pickOf(attacker, [
    `after=${number}`,
    `after=${number}&after=1`,
    'after=1&after=2',
    `limit=${number}`,
    'limit=0',
    'limit=1001',
    `types=${nasty}`,
    `task=${nasty}`,
    `cursor=${nasty}`,
    `status=${nasty}`,
    `name=${nasty}`,
    `parent=${nasty}`,
    `thread=${nasty}`,
    `${nasty}=1`,
    'token=secret',
    'after[]=1',
    Array.from({ length: 500 }, (_, index) => `q${index}=1`).join('&'),
  ])
  const accept = pickOf(attacker, ['*/*', 'text/event-stream', 'application/x-ndjson', 'text/event-stream;q=nonsense'])
  const start: Headers = attacker.random.chance(0.3) ? [['Last-Event-ID', pickOf(attacker, wrongNumbers)]] : []
  return {
    what: 'query',
    bytes: request(attacker, 'GET', `${pickOf(attacker, paths)}?${query}`, [['Accept', accept], ...start]),
  }
}

export function wrongHeader(attacker: Attacker): Attack {
  const nasty = pickOf(attacker, nastyTexts)
  const header = pickOf<readonly [string, string]>(attacker, [
    ['X-Request-Id', nasty],
    ['Idempotency-Key', nasty],
    ['Idempotency-Key', 'k'.repeat(201)],
    ['traceparent', nasty],
    ['traceparent', '00-00000000000000000000000000000000-0000000000000000-00'],
    ['Last-Event-ID', nasty],
    ['Origin', nasty],
    ['Origin', 'http://evil.test'],
    ['Origin', 'null'],
    ['X-Forwarded-Host', nasty],
    ['X-Forwarded-Proto', nasty],
    ['Cookie', `holdfast=${nasty}`],
    ['Cookie', 'holdfast=a.1.b; '.repeat(500)],
    ['Authorization', `Basic ${nasty}`],
    ['Authorization', `Bearer ${'x'.repeat(8000)}`],
    ['Content-Type', nasty],
    ['Content-Encoding', 'gzip'],
    ['Accept', `${'text/event-stream,'.repeat(500)}`],
    ['Accept-Encoding', nasty],
    ['X-Huge', 'x'.repeat(100_000)],
    ['Sec-WebSocket-Protocol', `bearer.${nasty}`],
  ])
  const many: Headers = attacker.random.chance(0.1)
    ? Array.from({ length: 3000 }, (_, n) => [`X-${n}`, 'y'] as const)
    : []
  const [path, body] = pickOf(attacker, posts)
  const isRead = attacker.random.chance(0.5)
  if (isRead) return { what: 'header', bytes: request(attacker, 'GET', pickOf(attacker, paths), [header, ...many]) }
  return { what: 'header', bytes: request(attacker, 'POST', path, [header, ...many], JSON.stringify(body)) }
}

/** Headers that never come to their end; whoever sends them leaves. */
export function slowHeaders(attacker: Attacker): Attack {
  const whole = request(attacker, 'POST', pickOf(attacker, paths), [['X-Slow', 'x'.repeat(200)]])
  return { what: 'slow headers', bytes: whole.subarray(0, attacker.random.below(whole.length - 4)), isCutEarly: true }
}

/** `encodeURIComponent` takes no half of a pair. */
function wellFormed(text: string): string {
  return text.toWellFormed()
}
