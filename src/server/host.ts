/** A host and its port, as a `Host` header or the address of an origin names them. */
export interface HostAndPort {
  /** In lower case; an IPv6 address in brackets. */
  readonly name: string
  readonly port?: number
}

const portMax = 65_535
// Names and IPv4 addresses, or an IPv6 address in brackets. No userinfo, no zone, no list, no percent-encoding.
const pattern = /^([a-z0-9_-]+(?:\.[a-z0-9_-]+)*|\[[0-9a-f:.]{2,45}\])(?::([0-9]{1,5}))?$/

/** Reads `name` or `name:port`; undefined for anything else, however a lenient reader would take it. */
export function parseHost(text: string): HostAndPort | undefined {
  const [, name, digits] = pattern.exec(text.toLowerCase()) ?? []
  if (name === undefined) return undefined
  if (digits === undefined) return { name }
  const port = Number(digits)
  return port <= portMax ? { name, port } : undefined
}

/**
 * Whether a name can only mean this machine: localhost, 127.0.0.0/8 in its usual notation, ::1. What only resolves to
 * it today does not count, nor do other spellings: nothing that means well sends them.
 */
export function isLoopback(name: string): boolean {
  const bare = name.toLowerCase()
  if (bare === 'localhost' || bare === '::1' || bare === '[::1]') return true
  const parts = bare.split('.')
  return (
    parts.length === 4 &&
    parts[0] === '127' &&
    parts.every((part) => /^(0|[1-9][0-9]{0,2})$/.test(part) && Number(part) <= 255)
  )
}
