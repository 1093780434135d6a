import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { json } from 'node:stream/consumers'
import type { Recorder } from './history/recorder.ts'

/** The world outside: a server on loopback to which steps of scripts post their effects. Each is written down before it is answered. */
export interface Ledger {
  readonly url: string
  close(): Promise<void>
}

interface Effect {
  readonly task: string
  readonly key: string
  readonly attempt: number
}

export async function startLedger(recorder: Recorder): Promise<Ledger> {
  const server = createServer((request, response) => {
    void json(request).then(
      (body) => {
        const { task, key, attempt } = body as Effect
        recorder.write({ kind: 'effect', task, key, attempt })
        response.end()
      },
      // A node that died while it posted has not done it.
      () => response.destroy(),
    )
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    async close() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}
