import type { Attack } from '../../../src/chaos/hostile/attack.ts'
import { launch, type Reaction } from '../../../src/chaos/hostile/launch.ts'

export interface Upgrade {
  readonly port: number
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  /** Sent right behind the request, without waiting for its answer. */
  readonly behind?: Buffer
}

/** Asks for a WebSocket, in bytes, and answers with what comes back first. */
export function upgrade({ port, path, headers, behind }: Upgrade): Promise<Reaction> {
  const all = {
    host: `127.0.0.1:${port}`,
    connection: 'Upgrade',
    upgrade: 'websocket',
    'sec-websocket-version': '13',
    'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==',
    ...headers,
  }
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`)
  const head = Buffer.from(`GET ${path} HTTP/1.1\r\n${lines.join('')}\r\n`)
  const attack: Attack = {
    what: 'upgrade',
    bytes: behind ? Buffer.concat([head, behind]) : head,
    // A refusal is over when the server hangs up; by then it would have done what stood behind the request.
    isOver: (received) => received.startsWith('HTTP/1.1 101') && received.includes('\r\n\r\n'),
  }
  return launch(attack, port)
}
