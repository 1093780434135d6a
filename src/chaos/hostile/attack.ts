import type { SeededRandom } from '../seeded-random.ts'

/** Who attacks: mostly with a token that is right. */
export interface Attacker {
  readonly random: SeededRandom
  readonly host: string
  readonly token: string
}

/** Bytes for a node, and what whoever sends them does then. */
export interface Attack {
  readonly what: string
  readonly bytes: Buffer
  /** Sent again and again after `bytes`, up to 100 MB, until there is an answer. */
  readonly flood?: Buffer
  /** How it hangs up when all is sent, instead of waiting for an answer. */
  readonly leaves?: 'closing' | 'resetting'
  /** Once this is received nothing more is waited for; the end of the first answer's head unless given. */
  readonly isOver?: (received: string) => boolean
}

export type Headers = readonly (readonly [name: string, value: string])[]

export function pickOf<Item>({ random }: Attacker, items: readonly Item[]): Item {
  return random.pick(items) as Item
}

/** What is cut short reaches a node as an end or as an error. */
export function leaving(attacker: Attacker): 'closing' | 'resetting' {
  return pickOf(attacker, ['closing', 'resetting'])
}

/** A request whose form is right, unless a header makes it wrong. */
export function request(attacker: Attacker, method: string, path: string, headers: Headers = [], body = ''): Buffer {
  return Buffer.concat([head(attacker, method, path, headers, Buffer.byteLength(body)), Buffer.from(body)])
}

/** What comes before a body of so many bytes. */
export function head(attacker: Attacker, method: string, path: string, headers: Headers, length: number): Buffer {
  const { host, token, random } = attacker
  const authorization: Headers = random.chance(0.9) ? [['Authorization', `Bearer ${token}`]] : []
  const size: Headers = length === 0 ? [] : [['Content-Length', String(length)]]
  const all: Headers = [['Host', host], ...authorization, ...headers, ...size, ['Connection', 'close']]
  return Buffer.from(
    `${method} ${path} HTTP/1.1\r\n${all.map(([name, value]) => `${name}: ${value}\r\n`).join('')}\r\n`,
  )
}
