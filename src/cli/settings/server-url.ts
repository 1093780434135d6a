import { wrong } from '../wrong.ts'

export const portDefault = 4747

/** A URL of a server, with the path under which it is mounted, if any. */
export function serverUrl(value: unknown): string {
  const url = typeof value === 'string' ? URL.parse(value) : null
  if (url && /^https?:$/.test(url.protocol)) return addressOf(url)
  const text = JSON.stringify(value) ?? 'Nothing'
  // What has one of these in it may hold a password or a token.
  throw wrong(`${/[@?#]/.test(text) ? 'This' : text} is no URL of a server, such as http://127.0.0.1:${portDefault}`)
}

/** What else a URL may hold is nothing to a server; what it says is not repeated, since it may be a secret. */
function addressOf({ origin, pathname, username, password, search, hash }: URL): string {
  if (username || password) throw wrong('A URL with a user or a password in it is refused. Give a token instead')
  if (search || hash) throw wrong('A URL of a server ends before the ? and the #')
  return `${origin}${pathname}`
}
