import { connect, type Socket } from 'node:net'

/** Bytes for a server, and what whoever sends them does then. */
export interface Attack {
  readonly what: string
  readonly bytes: Buffer
  /** Sent again and again after `bytes`, up to 100 MB, until there is an answer. */
  readonly flood?: Buffer
  /** Hangs up when all is sent, instead of waiting for an answer. */
  readonly isCutEarly?: true
  /** Once it is received nothing more is waited for; the end of the first answer's head unless given. */
  readonly isOver?: (received: string) => boolean
}

/** What came back before the connection was closed, by either side. */
export interface Reaction {
  readonly received: string
  /** Of all answers, those of upgrades too. */
  readonly statuses: readonly number[]
}

const floodBytesMax = 100_000_000

/** Resolves when it is over. That the other side closes is as good as an answer. */
export async function launch(attack: Attack, port: number): Promise<Reaction> {
  const socket = connect(port, '127.0.0.1')
  const isOver = attack.isOver ?? ((text: string) => text.includes('\r\n\r\n'))
  let received = ''
  const closed = new Promise<void>((resolve) => {
    socket.on('close', () => resolve())
  })
  socket.on('data', (data: Buffer) => {
    received += data.toString('latin1')
    if (isOver(received)) socket.destroy()
  })
  // What the other side thinks of it is in what was received.
  socket.on('error', () => {})
  socket.write(attack.bytes, () => {
    if (attack.isCutEarly) socket.destroy()
  })
  if (attack.flood) void flood(socket, attack.flood)
  await closed
  return {
    received,
    statuses: [...received.matchAll(/^HTTP\/1\.[01] ([0-9]{3})/gm)].map(([, status]) => Number(status)),
  }
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
