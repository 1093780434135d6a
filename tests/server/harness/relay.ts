import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { onTestFinished } from 'vitest'

/** What stands between a client and a server that comes back on another port each time. */
export interface Relay {
  readonly url: string
  /** How many connections were made through it. */
  readonly count: number
  /** The connections to come, in turn, break after so many bytes of the server; those after them do not. */
  breakAfter(bytes: readonly number[]): void
}

/** Passes everything on to wherever the server is when a connection is made. */
export async function startRelay(target: () => string): Promise<Relay> {
  const lives: number[] = []
  const open = new Set<Socket>()
  let count = 0
  const relay = createServer((near) => {
    count += 1
    let life = lives.shift() ?? Number.POSITIVE_INFINITY
    const far = connect(Number(new URL(target()).port), '127.0.0.1')
    const end = () => {
      near.destroy()
      far.destroy()
    }
    for (const socket of [near, far]) {
      open.add(socket)
      socket.on('error', end)
      socket.on('close', () => {
        open.delete(socket)
        end()
      })
    }
    near.pipe(far)
    far.on('data', (bytes) => {
      const part = bytes.subarray(0, life)
      life -= bytes.length
      near.write(part, () => {
        if (life <= 0) end()
      })
    })
  })
  relay.listen(0, '127.0.0.1')
  await once(relay, 'listening')
  onTestFinished(async () => {
    for (const socket of open) socket.destroy()
    relay.close()
    await once(relay, 'close')
  })
  return {
    url: `http://127.0.0.1:${(relay.address() as AddressInfo).port}`,
    get count() {
      return count
    },
    breakAfter: (bytes) => {
      lives.splice(0, lives.length, ...bytes)
    },
  }
}
