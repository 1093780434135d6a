import { loginCookie } from '../../../src/server/auth/cookie.ts'
import { Tokens } from '../../../src/server/auth/tokens.ts'
import { tokens } from './site.ts'

/** What a request says of who sends it, and what that comes to. */
export interface Credential {
  readonly what: string
  readonly headers: Readonly<Record<string, string>>
  /** Put behind the path. */
  readonly query?: string
  readonly comesTo: 'carol' | 'unauthenticated' | 'forbidden_origin'
}

const dayMs = 24 * 60 * 60 * 1000
const mine = tokens.carol
const keys = new Tokens(tokens)
const strangers = new Tokens({ carol: 'the-token-of-carol-on-another-server' })

/** `name=value` of a cookie for a principal, signed by whoever has that key, so many days ago. */
function cookieOf(principal: string, key: Buffer, daysAgo = 0): string {
  const place = { basePath: '', isSecure: false }
  return loginCookie(principal, key, Date.now() - daysAgo * dayMs, place).split(';', 1)[0] ?? ''
}

const cookie = cookieOf('carol', keys.cookieKey('carol'))
const base64 = (text: string) => Buffer.from(text).toString('base64')
const base64url = (text: string) => Buffer.from(text).toString('base64url')
const [principalPart = '', expiryPart = '', signature = ''] = cookie.replace('holdfast=', '').split('.')

const authorizations: readonly (readonly [what: string, value: string])[] = [
  ['an empty Authorization', ''],
  ['a wrong token', 'Bearer wrong'],
  ['a token that is too short by one', `Bearer ${mine.slice(0, -1)}`],
  ['a token that is too long by one', `Bearer ${mine}x`],
  ['a token in capitals', `Bearer ${mine.toUpperCase()}`],
  ['a token with a NUL escape behind it', `Bearer ${mine}%00`],
  ['a token without its scheme', mine],
  ['a token run together with its scheme', `Bearer${mine}`],
  ['a scheme without a token', 'Bearer'],
  ['a scheme without a token but a space', 'Bearer '],
  ['a token under Basic', `Basic ${base64(`carol:${mine}`)}`],
  ['a token as the user of Basic', `Basic ${base64(`${mine}:`)}`],
  ['a token under Digest', `Digest ${mine}`],
  ['a token under another scheme', `Token ${mine}`],
  ['a token in quotes', `Bearer "${mine}"`],
  ['a token as a field', `Bearer token="${mine}"`],
  ['a token in base64', `Bearer ${base64(mine)}`],
  ['two tokens with a comma', `Bearer ${mine}, Bearer ${mine}`],
  ['two tokens with a space', `Bearer ${mine} ${mine}`],
  ['the name of a principal', 'Bearer carol'],
  ['the value of a good cookie', `Bearer ${cookie.slice('holdfast='.length)}`],
  ['a very long token', `Bearer ${'x'.repeat(8000)}`],
]

const cookies: readonly (readonly [what: string, value: string])[] = [
  ['an empty cookie', ''],
  ['a cookie of ours without a value', 'holdfast='],
  ['a cookie that is over', cookieOf('carol', keys.cookieKey('carol'), 31)],
  ['a cookie of another server', cookieOf('carol', strangers.cookieKey('carol'))],
  ['a cookie for carol signed by bob', cookieOf('carol', keys.cookieKey('bob'))],
  ['a cookie of a principal without a token', cookieOf('mallory', keys.cookieKey('bob'))],
  ['a cookie with another principal', `holdfast=${base64url('alice')}.${expiryPart}.${signature}`],
  ['a cookie with a later end', `holdfast=${principalPart}.${Number(expiryPart) + dayMs}.${signature}`],
  ['a cookie without its signature', `holdfast=${principalPart}.${expiryPart}.`],
  ['a cookie with half of its signature', cookie.slice(0, -20)],
  ['a cookie with a signature of its own', `${cookie.slice(0, -43)}${'A'.repeat(43)}`],
  ['a cookie under another name', cookie.replace('holdfast=', 'holdfast2=')],
  ['a cookie under a name in capitals', cookie.replace('holdfast=', 'HOLDFAST=')],
  ['a token as a cookie', `holdfast=${mine}`],
  ['a token under the name of a token', `token=${mine}`],
]

/** One row for everything that lets nobody in, wherever it is sent. `origin` is that of the server. */
export function badCredentials(origin: string): readonly Credential[] {
  const bad = { comesTo: 'unauthenticated' } as const
  return [
    { what: 'nothing', headers: {}, ...bad },
    ...authorizations.map(([what, authorization]) => ({ what, headers: { authorization }, ...bad })),
    ...cookies.map(([what, value]) => ({ what, headers: { cookie: value }, ...bad })),
    ...['token', 'access_token', 'authorization', 'bearer', 'code', 'key'].map((name) => ({
      what: `a token as ${name} in the address`,
      headers: {},
      query: `${name}=${mine}`,
      ...bad,
    })),
    { what: 'a token in another header', headers: { 'x-api-key': mine, 'x-auth-token': mine, token: mine }, ...bad },
    { what: 'a token for a proxy', headers: { 'proxy-authorization': `Bearer ${mine}` }, ...bad },
    { what: 'a wrong token beside a good cookie', headers: { authorization: 'Bearer wrong', cookie }, ...bad },
    { what: 'a principal that a proxy names', headers: { 'x-forwarded-user': 'carol', 'x-user': 'carol' }, ...bad },
    { what: 'a cookie that is over, of the same origin', headers: { cookie: cookies[2]?.[1] ?? '', origin }, ...bad },
    ...['http://evil.example', 'null', `${origin}.evil.example`, origin.replace('http:', 'https:')].map((foreign) => ({
      what: `a good cookie on a page of ${foreign}`,
      headers: { cookie, origin: foreign },
      comesTo: 'forbidden_origin' as const,
    })),
  ]
}

/** One row for everything that is carol. */
export function goodCredentials(origin: string): readonly Credential[] {
  const good = { comesTo: 'carol' } as const
  return [
    { what: 'a token', headers: { authorization: `Bearer ${mine}` }, ...good },
    { what: 'a token under a scheme in capitals', headers: { authorization: `BEARER  ${mine}` }, ...good },
    {
      what: 'a token beside a wrong cookie',
      headers: { authorization: `Bearer ${mine}`, cookie: 'holdfast=x' },
      ...good,
    },
    { what: 'a cookie', headers: { cookie }, ...good },
    { what: 'a cookie of the same origin', headers: { cookie, origin }, ...good },
    { what: 'a cookie among others', headers: { cookie: `a=b; holdfast=x.1.y; ${cookie}; c=d` }, ...good },
    {
      what: 'a cookie that will soon be over',
      headers: { cookie: cookieOf('carol', keys.cookieKey('carol'), 29) },
      ...good,
    },
  ]
}

const protocols: readonly (readonly [what: string, value: string])[] = [
  ['a wrong token as a subprotocol', `holdfast.v1, bearer.${base64url('wrong')}`],
  ['a token as it is as a subprotocol', `holdfast.v1, bearer.${mine}`],
  ['a token in padded base64 as a subprotocol', `holdfast.v1, bearer.${base64(`${mine}?`)}`],
  ['no token as a subprotocol', 'holdfast.v1, bearer.'],
  ['a token as a subprotocol of another name', `holdfast.v1, token.${base64url(mine)}`],
  ['a wrong token before a good one as subprotocols', `bearer.${base64url('wrong')}, bearer.${base64url(mine)}`],
]

/** What only an upgrade can say. */
export function upgradeCredentials(origin: string): readonly Credential[] {
  const offered = `holdfast.v1, bearer.${base64url(mine)}`
  const name = 'sec-websocket-protocol'
  return [
    ...protocols.map(([what, value]) => ({ what, headers: { [name]: value }, comesTo: 'unauthenticated' as const })),
    {
      what: 'a good subprotocol beside a wrong token',
      headers: { authorization: 'Bearer wrong', [name]: offered },
      comesTo: 'unauthenticated',
    },
    {
      what: 'a wrong subprotocol beside a good cookie',
      headers: { cookie, [name]: `holdfast.v1, bearer.${base64url('wrong')}` },
      comesTo: 'unauthenticated',
    },
    {
      what: 'a good subprotocol on a page of another origin',
      headers: { origin: 'http://evil.example', [name]: offered },
      comesTo: 'forbidden_origin',
    },
    { what: 'a good subprotocol', headers: { [name]: offered }, comesTo: 'carol' },
    { what: 'a good subprotocol of the same origin', headers: { origin, [name]: offered }, comesTo: 'carol' },
  ]
}
