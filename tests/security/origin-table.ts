/** How a server is configured. */
export type Setting = 'plain' | 'configured' | 'behind a proxy'

/** What `Host` and `Origin` of a request come to. */
export interface OriginRow {
  readonly what: string
  /** Header lines as they are sent; PORT stands for the port of the server. */
  readonly lines: readonly string[]
  readonly isAnswered: boolean
  /** A page of this origin may read what is answered. */
  readonly isShared?: true
}

export const settings = {
  plain: {},
  configured: {
    hosts: ['app.example', 'other.example:8443', '[2001:db8::1]'],
    origins: ['https://front.example', 'http://front.example:8080', 'chrome-extension://abcdefgh'],
  },
  'behind a proxy': { hosts: ['app.example'], origins: ['https://front.example'], trustProxy: true },
} as const

type Line = readonly [what: string, ...lines: readonly string[]]

const answered = ([what, ...lines]: Line): OriginRow => ({ what, lines, isAnswered: true })
const refused = ([what, ...lines]: Line): OriginRow => ({ what, lines, isAnswered: false })
const readable = (line: Line): OriginRow => ({ ...answered(line), isShared: true })

const here = 'Host: 127.0.0.1:PORT'
const app = 'Host: app.example'

const loopbackHosts: readonly Line[] = [
  ['the address', here],
  ['the address without a port', 'Host: 127.0.0.1'],
  ['another port, as through a tunnel', 'Host: 127.0.0.1:1'],
  ['another address of loopback', 'Host: 127.8.9.1:PORT'],
  ['localhost', 'Host: localhost:PORT'],
  ['localhost in capitals', 'Host: LOCALHOST:PORT'],
  ['IPv6 loopback', 'Host: [::1]:PORT'],
  ['IPv6 loopback without a port', 'Host: [::1]'],
  ['spaces around the host', 'Host:   localhost:PORT  '],
]

const foreignHosts: readonly Line[] = [
  ['a name that was made to resolve here', 'Host: rebound.example:PORT'],
  ['a name that begins with localhost', 'Host: localhost.rebound.example'],
  ['a name that begins with the address', 'Host: 127.0.0.1.rebound.example'],
  ['a name that ends in localhost', 'Host: rebound.localhost'],
  ['a trailing dot', 'Host: localhost.'],
  ['a trailing dot before the port', 'Host: localhost.:PORT'],
  ['a trailing dot behind the address', 'Host: 127.0.0.1.:PORT'],
  ['a short address', 'Host: 127.1:PORT'],
  ['an address in hexadecimal', 'Host: 0x7f000001:PORT'],
  ['an address in hexadecimal on another port', 'Host: 0x7f000001:80'],
  ['an address in octal', 'Host: 0177.0.0.1:PORT'],
  ['an address as one number', 'Host: 2130706433:PORT'],
  ['an address with a leading zero', 'Host: 127.0.0.01:PORT'],
  ['an address out of range', 'Host: 127.0.0.256:PORT'],
  ['the address of all interfaces', 'Host: 0.0.0.0:PORT'],
  ['the IPv6 address of all interfaces', 'Host: [::]:PORT'],
  ['a short address on another port', 'Host: 127.1:80'],
  ['IPv4 in IPv6', 'Host: [::ffff:127.0.0.1]:PORT'],
  ['IPv6 loopback written out', 'Host: [0:0:0:0:0:0:0:1]:PORT'],
  ['IPv6 with a zone', 'Host: [::1%25lo]:PORT'],
  ['IPv6 without brackets', 'Host: ::1'],
  ['half an IPv6 address', 'Host: [::1'],
  ['a private address', 'Host: 192.168.0.1:PORT'],
  ['the address of a cloud’s credentials', 'Host: 169.254.169.254'],
  ['a user before the host', 'Host: user@localhost:PORT'],
  ['a user and a password before the host', 'Host: user:pass@localhost:PORT'],
  ['the host as a user of another', 'Host: localhost:PORT@rebound.example'],
  ['a path behind the host', 'Host: localhost:PORT/rebound.example'],
  ['a query behind the host', 'Host: localhost?rebound.example'],
  ['a fragment behind the host', 'Host: localhost#rebound.example'],
  ['a backslash behind the host', 'Host: localhost\\rebound.example'],
  ['a list of hosts', 'Host: localhost:PORT, rebound.example'],
  ['two words', 'Host: localhost rebound.example'],
  ['an escape in the host', 'Host: local%68ost:PORT'],
  ['letters that only look so', 'Host: \u217cocalhost:PORT'],
  ['a port without digits', 'Host: localhost:'],
  ['a port that is none', 'Host: localhost:port'],
  ['a port out of range', 'Host: localhost:99999'],
  ['two ports', 'Host: localhost:PORT:80'],
  ['an empty host', 'Host:'],
  ['no host at all'],
  ['two hosts', here, 'Host: rebound.example'],
  ['two hosts in the other order', 'Host: rebound.example', here],
  ['the same host twice', here, here],
  ['a good host in another header', 'Host: rebound.example', 'X-Forwarded-Host: localhost'],
  ['a good host in another header that nobody trusts', 'Host: rebound.example', 'Forwarded: host=localhost'],
  ['a good host where HTTP/2 has it', 'Host: rebound.example', 'X-Original-Host: localhost', 'X-Host: localhost'],
]

const ownOrigins: readonly Line[] = [
  ['the same origin', here, 'Origin: http://127.0.0.1:PORT'],
  ['the same origin by name', 'Host: localhost:PORT', 'Origin: http://localhost:PORT'],
  ['the same origin in capitals', 'Host: localhost:PORT', 'Origin: HTTP://LOCALHOST:PORT'],
  ['the same origin on IPv6', 'Host: [::1]:PORT', 'Origin: http://[::1]:PORT'],
  ['the same origin on a port that goes without saying', 'Host: localhost', 'Origin: http://localhost:80'],
]

const foreignOrigins: readonly Line[] = [
  ['another site', here, 'Origin: https://evil.example'],
  ['another site that claims to be the same', here, 'Origin: https://evil.example', 'Sec-Fetch-Site: same-origin'],
  ['an opaque origin', here, 'Origin: null'],
  ['an opaque origin in capitals', here, 'Origin: NULL'],
  ['an empty origin', here, 'Origin:'],
  ['another name of this machine', here, 'Origin: http://localhost:PORT'],
  ['another address of this machine', here, 'Origin: http://[::1]:PORT'],
  ['another port', here, 'Origin: http://127.0.0.1:1'],
  ['no port', here, 'Origin: http://127.0.0.1'],
  ['another scheme', here, 'Origin: https://127.0.0.1:PORT'],
  ['the scheme of a socket', here, 'Origin: ws://127.0.0.1:PORT'],
  ['a file', here, 'Origin: file://'],
  ['no scheme', here, 'Origin: 127.0.0.1:PORT'],
  ['a trailing slash', here, 'Origin: http://127.0.0.1:PORT/'],
  ['a path', here, 'Origin: http://127.0.0.1:PORT/v1'],
  ['a trailing dot', 'Host: localhost:PORT', 'Origin: http://localhost.:PORT'],
  ['a user', here, 'Origin: http://user@127.0.0.1:PORT'],
  ['this server as a user of another', here, 'Origin: http://127.0.0.1:PORT@evil.example'],
  ['this server as the beginning of another', here, 'Origin: http://127.0.0.1:PORT.evil.example'],
  ['a list of origins', here, 'Origin: http://127.0.0.1:PORT, https://evil.example'],
  ['two origins', here, 'Origin: http://127.0.0.1:PORT', 'Origin: https://evil.example'],
  ['two origins in the other order', here, 'Origin: https://evil.example', 'Origin: http://127.0.0.1:PORT'],
  ['a good origin and a wrong host', 'Host: rebound.example', 'Origin: http://127.0.0.1:PORT'],
  ['the same origin, but rebound', 'Host: rebound.example:PORT', 'Origin: http://rebound.example:PORT'],
  ['an extension that is not configured', here, 'Origin: chrome-extension://zyxwvuts'],
]

const configured: readonly OriginRow[] = [
  ...(
    [
      ['a configured host', app],
      ['a configured host on any port', 'Host: app.example:8080'],
      ['a configured host in capitals', 'Host: APP.Example'],
      ['a configured host on its port', 'Host: other.example:8443'],
      ['a configured IPv6 address', 'Host: [2001:db8::1]:PORT'],
      ['the same origin under a configured host', app, 'Origin: http://app.example'],
      ['loopback as ever', here, 'Origin: http://127.0.0.1:PORT'],
    ] as const
  ).map(answered),
  ...(
    [
      ['a configured origin', here, 'Origin: https://front.example'],
      ['a configured origin under a configured host', app, 'Origin: https://front.example'],
      ['a configured origin on its usual port', here, 'Origin: https://front.example:443'],
      ['a configured origin in capitals', here, 'Origin: HTTPS://Front.Example'],
      ['a configured origin on its port', here, 'Origin: http://front.example:8080'],
      ['a configured extension', here, 'Origin: chrome-extension://abcdefgh'],
    ] as const
  ).map(readable),
  ...(
    [
      ['a name below a configured host', 'Host: sub.app.example'],
      ['a name that ends in a configured host', 'Host: evilapp.example'],
      ['a name that begins with a configured host', 'Host: app.example.evil.example'],
      ['a configured host with a dot', 'Host: app.example.'],
      ['a configured host without its port', 'Host: other.example'],
      ['a configured host on another port', 'Host: other.example:8444'],
      ['the host of a configured origin', 'Host: front.example'],
      ['a configured host as an origin of another scheme', app, 'Origin: https://app.example'],
      ['a configured host as an origin elsewhere', here, 'Origin: http://app.example'],
      ['a configured origin of another scheme', here, 'Origin: http://front.example'],
      ['a configured origin on another port', here, 'Origin: https://front.example:444'],
      ['a configured origin without its port', here, 'Origin: http://front.example:80'],
      ['a name below a configured origin', here, 'Origin: https://a.front.example'],
      ['a configured origin as a user', here, 'Origin: https://front.example@evil.example'],
      ['a configured origin twice', here, 'Origin: https://front.example', 'Origin: https://front.example'],
      ['a configured origin with a path', here, 'Origin: https://front.example/'],
      ['a forwarded host that nobody trusts', 'Host: rebound.example', 'X-Forwarded-Host: app.example'],
      ['a forwarded scheme that nobody trusts', app, 'X-Forwarded-Proto: https', 'Origin: https://app.example'],
      ['an opaque origin all the same', here, 'Origin: null'],
    ] as const
  ).map(refused),
  // It may read that it is refused, and why.
  {
    ...refused(['a configured origin and a wrong host', 'Host: rebound.example', 'Origin: https://front.example']),
    isShared: true,
  },
]

const forwarded = 'X-Forwarded-Host: app.example'
const secure = 'X-Forwarded-Proto: https'
const appOrigin = 'Origin: https://app.example'

const proxied: readonly OriginRow[] = [
  ...(
    [
      ['what a proxy forwards', here, forwarded, secure, appOrigin],
      ['a proxy that keeps the host', app, secure, appOrigin],
      ['the first of several proxies', here, 'X-Forwarded-Host: app.example, inner.example', secure, appOrigin],
      ['the first of several lines', here, forwarded, 'X-Forwarded-Host: inner.example', secure, appOrigin],
      ['a forwarded scheme in capitals', app, 'X-Forwarded-Proto: HTTPS', appOrigin],
      ['the first of several schemes', app, 'X-Forwarded-Proto: https, http', appOrigin],
      ['nothing forwarded', here],
    ] as const
  ).map(answered),
  ...[readable(['a configured origin', here, forwarded, secure, 'Origin: https://front.example'])],
  ...(
    [
      ['a forwarded host that is not configured', here, 'X-Forwarded-Host: rebound.example'],
      ['a wrong host before the right one', here, 'X-Forwarded-Host: rebound.example, app.example'],
      ['a wrong line before the right one', here, 'X-Forwarded-Host: rebound.example', forwarded],
      ['a forwarded host that is empty', here, 'X-Forwarded-Host:'],
      ['a right forwarded host and a wrong host', 'Host: rebound.example', forwarded],
      ['an origin of the scheme behind the proxy', app, secure, 'Origin: http://app.example'],
      ['an origin of https without the proxy saying so', app, appOrigin],
      ['an origin of what the proxy calls us', here, forwarded, secure, 'Origin: http://127.0.0.1:PORT'],
      ['a foreign origin', here, forwarded, secure, 'Origin: https://evil.example'],
      ['another header of proxies', 'Host: rebound.example', 'Forwarded: host=app.example;proto=https'],
    ] as const
  ).map(refused),
]

/** Every row is sent over every transport to a server of its setting. */
export const originTable: Readonly<Record<Setting, readonly OriginRow[]>> = {
  plain: [...[...loopbackHosts, ...ownOrigins].map(answered), ...[...foreignHosts, ...foreignOrigins].map(refused)],
  configured,
  'behind a proxy': proxied,
}
