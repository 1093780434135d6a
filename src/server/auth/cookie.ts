import { createHmac, timingSafeEqual } from 'node:crypto'

const name = 'holdfast'
const dayMs = 24 * 60 * 60 * 1000

/** How long a browser stays logged in. */
const cookieMsMax = 30 * dayMs

export interface CookiePlace {
  /** Without a slash at its end; empty at the root. */
  readonly basePath: string
  /** Whether the browser came by https; it then sends the cookie over nothing else. */
  readonly isSecure: boolean
}

/** What a cookie says, before anybody has checked that it is true. */
export interface CookieClaim {
  readonly principal: string
  readonly expiresAt: number
  readonly signed: string
  readonly signature: Buffer
}

/** The value of `Set-Cookie` that logs a browser in as `principal`. */
export function loginCookie(principal: string, key: Buffer, now: number, place: CookiePlace): string {
  const signed = `${Buffer.from(principal).toString('base64url')}.${now + cookieMsMax}`
  const value = `${signed}.${sign(signed, key).toString('base64url')}`
  return setCookie(value, cookieMsMax / 1000, place)
}

/** The value of `Set-Cookie` that makes a browser forget. */
export function logoutCookie(place: CookiePlace): string {
  return setCookie('', 0, place)
}

/** Every cookie of ours in a `Cookie` header: a browser sends one for each path that has one. */
export function claimsIn(header: string): CookieClaim[] {
  const values = header.split(';').map((pair) => pair.trim())
  return values.flatMap((pair) => (pair.startsWith(`${name}=`) ? (readClaim(pair.slice(name.length + 1)) ?? []) : []))
}

/** Whether the claim was signed with the key, and is not over. */
export function isTrue(claim: CookieClaim, key: Buffer, now: number): boolean {
  return timingSafeEqual(claim.signature, sign(claim.signed, key)) && now < claim.expiresAt
}

function readClaim(value: string): CookieClaim | undefined {
  const parts = /^(([A-Za-z0-9_-]{1,172})\.([0-9]{1,15}))\.([A-Za-z0-9_-]{43})$/.exec(value)
  const [, signed, encoded, expiresAt, signature] = parts ?? []
  if (signed === undefined || encoded === undefined || signature === undefined) return undefined
  const principal = Buffer.from(encoded, 'base64url').toString()
  return { principal, expiresAt: Number(expiresAt), signed, signature: Buffer.from(signature, 'base64url') }
}

function sign(signed: string, key: Buffer): Buffer {
  return createHmac('sha256', key).update(signed).digest()
}

function setCookie(value: string, seconds: number, { basePath, isSecure }: CookiePlace): string {
  const place = `Path=${basePath || '/'}; Max-Age=${seconds}; HttpOnly; SameSite=Strict`
  return `${name}=${value}; ${place}${isSecure ? '; Secure' : ''}`
}
