// Who the users are, and a cookie that says which of them this browser is. Put your own login here: all that Holdfast needs
// of it is `userOf`.
import { createHmac, timingSafeEqual } from 'node:crypto'

const passwords = new Map([
  ['alice', 'wonderland'],
  ['bob', 'builder'],
])

const { SECRET = 'known to everybody who reads this' } = process.env

/** The value of Set-Cookie for a user who knows the password. */
export function cookieFor(user: string, password: string): string | undefined {
  const right = passwords.get(user)
  return right !== undefined && isSame(right, password) ? setCookie(`${user}.${signature(user)}`, 86_400) : undefined
}

/** The value of Set-Cookie that logs out. */
export const forgetting = setCookie('', 0)

export function userOf(request: Request): string | undefined {
  const cookie = request.headers.get('cookie') ?? ''
  const [, user, signed] = /(?:^|; *)user=([a-z]+)\.([\w-]+)/.exec(cookie) ?? []
  return user !== undefined && signed !== undefined && isSame(signature(user), signed) ? user : undefined
}

function setCookie(value: string, seconds: number): string {
  // Add `Secure` where the page is served by https.
  return `user=${value}; Path=/; Max-Age=${seconds}; HttpOnly; SameSite=Strict`
}

function signature(text: string): string {
  return createHmac('sha256', SECRET).update(text).digest('base64url')
}

/** Compares digests, so that the time it takes tells nothing. */
function isSame(one: string, other: string): boolean {
  return timingSafeEqual(Buffer.from(signature(one)), Buffer.from(signature(other)))
}
