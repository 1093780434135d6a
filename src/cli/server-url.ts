import { wrong } from './wrong.ts'

export const portDefault = 4747

/** A URL of a server, with the path under which it is mounted, if any. */
export function serverUrl(value: unknown): string {
  const url = typeof value === 'string' ? URL.parse(value) : null
  if (url && /^https?:$/.test(url.protocol)) return url.href
  throw wrong(`${JSON.stringify(value) ?? 'Nothing'} is no URL of a server, such as http://127.0.0.1:${portDefault}`)
}
