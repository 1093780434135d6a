import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'

/** A port of the loopback interface on which nobody listens now. */
export async function freePort(): Promise<number> {
  const listener = createServer()
  listener.listen(0, '127.0.0.1')
  await once(listener, 'listening')
  const { port } = listener.address() as AddressInfo
  listener.close()
  await once(listener, 'close')
  return port
}
