import { connect, type Socket } from 'node:net'
import { systemClock } from '../../runtime/clock.ts'
import type { Attack } from './attack.ts'

/** What came back before the connection was closed, by either side. */
export interface Reaction {
  readonly isConnected: boolean
  readonly received: string
  /** Of all answers, those of upgrades too. */
  readonly statuses: readonly number[]
}

interface LaunchOptions {
  /** `127.0.0.1` unless given. */
  readonly host?: string
  /** A node that waits for the rest of a request is left after so long; never unless given. */
  readonly patienceMs?: number
}

const floodBytesMax = 100_000_000

/** Resolves when it is over. That the other side closes is as good as an answer. */
export async function launch(attack: Attack, port: number, options: LaunchOptions = {}): Promise<Reaction> {
  const { host = '127.0.0.1', patienceMs } = options
  const socket = connect(port, host)
  const isOver = attack.isOver ?? ((text: string) => text.includes('\r\n\r\n'))
  let received = ''
  let isConnected = false
  // Reset, so that what was closed does not keep the port that the next one needs.
  const leave = () => socket.resetAndDestroy()
  const closed = new Promise<void>((resolve) => socket.on('close', () => resolve()))
  socket.on('connect', () => {
    isConnected = true
  })
  socket.on('data', (data: Buffer) => {
    received += data.toString('latin1')
    if (isOver(received)) leave()
  })
  // What the other side thinks of it is in what was received.
  socket.on('error', () => {})
  socket.write(attack.bytes, () => {
    if (attack.leaves === 'closing') socket.destroy()
    if (attack.leaves === 'resetting') leave()
  })
  if (attack.flood) void flood(socket, attack.flood)
  const timer = patienceMs === undefined ? undefined : systemClock.setTimer(patienceMs, leave)
  await closed
  timer?.cancel()
  const statuses = [...received.matchAll(/^HTTP\/1\.[01] ([0-9]{3})/gm)].map(([, status]) => Number(status))
  return { isConnected, received, statuses }
}

/** What is wrong with an answer, if anything: it fails, or what was sent has become part of its form. */
export function harmOf({ received, statuses }: Reaction): 'failed' | 'injected' | undefined {
  if (/^set-cookie: injected|^data: injected/im.test(received)) return 'injected'
  return statuses.some((status) => status >= 500) || /"status":5\d\d/.test(received) ? 'failed' : undefined
}

async function flood(socket: Socket, bytes: Buffer): Promise<void> {
  for (let sent = 0; sent < floodBytesMax && !socket.destroyed; sent += bytes.length) {
    if (socket.write(bytes)) continue
    await new Promise<void>((resolve) => {
      socket.once('drain', resolve).once('close', resolve)
    })
  }
  socket.end()
}
