import { type Attack, type Attacker, type Headers, leaving, pickOf, request } from './attack.ts'
import { nastyTexts, paths, posts, wrongNumbers } from './words.ts'

/** What no parser of HTTP takes, or two take differently. */
export function malformed(attacker: Attacker): Attack {
  const { host, random, token } = attacker
  const own = `Host: ${host}\r\nAuthorization: Bearer ${token}\r\n`
  const get = `GET /v1/threads HTTP/1.1\r\n${own}`
  const post = `POST /v1/threads/t/runs HTTP/1.1\r\n${own}`
  const noise = Buffer.from(Array.from({ length: 200 }, () => random.below(256))).toString('latin1')
  const text = pickOf(attacker, [
    `${noise}\r\n\r\n`,
    `${'\u0000\u0001'.repeat(50)}\r\n\r\n`,
    'GET\r\n\r\n',
    'GET / HTTP/9.9\r\n\r\n',
    'get /v1/threads HTTP/1.1\r\n\r\n',
    'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n',
    'GET /v1/threads HTTP/1.1\r\n\r\n',
    `GET /v1/threads HTTP/1.1\n${own}\n\n`,
    `${get}No colon\r\n\r\n`,
    `${get}X: a\u0000b\r\n\r\n`,
    `${get}X: a\r\n folded\r\nConnection: close\r\n\r\n`,
    `${get}X : space\r\n\r\n`,
    `${get}Host: other\r\nConnection: close\r\n\r\n`,
    `GET /v1/threads HTTP/1.1\r\nHost: other\r\n${own}Connection: close\r\n\r\n`,
    `${get}Upgrade: h2c\r\nConnection: upgrade, close\r\n\r\n`,
    `GET /v1/threads HTTP/1.0\r\n${own}\r\n`,
    `GET http://evil.test/v1/threads HTTP/1.1\r\n${own}Connection: close\r\n\r\n`,
    `GET http://[::bad/v1 HTTP/1.1\r\n${own}Connection: close\r\n\r\n`,
    `CONNECT evil.test:443 HTTP/1.1\r\n${own}\r\n`,
    `OPTIONS * HTTP/1.1\r\n${own}Connection: close\r\n\r\n`,
    `GET ${'/a'.repeat(20_000)} HTTP/1.1\r\n${own}\r\n`,
    `${post}Content-Length: 5\r\nContent-Length: 6\r\n\r\n{}{}{}`,
    `${post}Content-Length: -1\r\n\r\n{}`,
    `${post}Content-Length: 99999999999999999999\r\n\r\n{}`,
    `${post}Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`,
    `${post}Transfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n`,
    `${post}Transfer-Encoding: chunked\r\n\r\nzz\r\n{}\r\n0\r\n\r\n`,
    `${post}Transfer-Encoding: chunked\r\n\r\nffffffffffffffffff\r\n{}`,
    `${post}Transfer-Encoding: chunked\r\nConnection: close\r\n\r\n2;${'x'.repeat(20_000)}\r\n{}\r\n0\r\n\r\n`,
    `${post}Expect: something\r\nContent-Length: 2\r\nConnection: close\r\n\r\n{}`,
  ])
  return { what: 'malformed', bytes: Buffer.from(text, 'latin1') }
}

export function wrongPath(attacker: Attacker): Attack {
  const nasty = encodeURIComponent(pickOf(attacker, nastyTexts).toWellFormed())
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
    `/v1/threads/${nasty}/runs`,
    `/v1/threads/${nasty}/events`,
    `/v1/tasks/${nasty}`,
    `/v1/questions/${nasty}/answer`,
    `/${nasty}`,
    '/v1/threads/t/events#fragment',
    '/v1/threads/é',
    '/console/../../../../etc/passwd',
    '/.git/config',
  ])
  return { what: 'path', bytes: request(attacker, pickOf(attacker, ['GET', 'POST', 'DELETE']), path) }
}

export function wrongMethod(attacker: Attacker): Attack {
  const known = ['PUT', 'PATCH', 'DELETE', 'HEAD', 'OPTIONS', 'TRACE', 'POST', 'GET', 'PROPFIND']
  const method = pickOf(attacker, [...known, 'FOO'])
  return { what: 'method', bytes: request(attacker, method, pickOf(attacker, paths)) }
}

export function wrongQuery(attacker: Attacker): Attack {
  const number = encodeURIComponent(pickOf(attacker, wrongNumbers))
  const nasty = encodeURIComponent(pickOf(attacker, nastyTexts).toWellFormed())
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
  const path = `${pickOf(attacker, paths)}?${query}`
  return { what: 'query', bytes: request(attacker, 'GET', path, [['Accept', accept], ...start]) }
}

const manyHeaders: Headers = Array.from({ length: 3000 }, (_, n) => [`X-${n}`, 'y'])

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
    ['Accept', 'text/event-stream,'.repeat(500)],
    ['Accept-Encoding', nasty],
    ['X-Huge', 'x'.repeat(100_000)],
    ['Sec-WebSocket-Protocol', `bearer.${nasty}`],
  ])
  const headers: Headers = attacker.random.chance(0.1) ? [header, ...manyHeaders] : [header]
  const [path, body] = pickOf(attacker, posts)
  const isRead = attacker.random.chance(0.5)
  const bytes = isRead
    ? request(attacker, 'GET', pickOf(attacker, paths), headers)
    : request(attacker, 'POST', path, headers, JSON.stringify(body))
  return { what: 'header', bytes }
}

/** Headers that never come to their end; whoever sends them leaves. */
export function tornHead(attacker: Attacker): Attack {
  const whole = request(attacker, 'POST', pickOf(attacker, paths), [['X-Slow', 'x'.repeat(200)]])
  const bytes = whole.subarray(0, attacker.random.below(whole.length - 4))
  return { what: 'torn head', bytes, leaves: leaving(attacker) }
}
