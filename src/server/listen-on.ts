import { createServer, type Server } from 'node:net'
import { HoldfastError } from '../core/errors.ts'

export const portDefault = 4747
export const hostDefault = '127.0.0.1'

/** Resolves when the server listens; rejects with `cannot_listen`, which says what to do. */
export async function listenOn(server: Server, host: string, port: number): Promise<void> {
  try {
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject)
      server.listen(port, host, () => {
        server.off('error', reject)
        resolve()
      })
    })
  } catch (error) {
    throw cannotListen(error, host, port)
  }
}

/** Rejects as a server would that cannot listen there now. */
export async function checkAddress(host: string, port = portDefault): Promise<void> {
  const server = createServer()
  await listenOn(server, host, port)
  await new Promise((resolve) => server.close(resolve))
}

function cannotListen(error: unknown, host: string, port: number): HoldfastError {
  const reason = error instanceof Error && 'code' in error ? String(error.code) : undefined
  const advice: Readonly<Record<string, string>> = {
    EADDRINUSE: `Another program listens on ${host} port ${port}. Stop it, or choose another port`,
    EACCES: `This user may not listen on ${host} port ${port}. Choose a port from 1024 on`,
    EADDRNOTAVAIL: `This machine has no address ${host}. Choose another host`,
    ENOTFOUND: `There is no address named ${host}. Choose another host`,
  }
  const message = (reason && advice[reason]) ?? `The server cannot listen on ${host} port ${port}`
  return new HoldfastError('cannot_listen', message, { cause: error, facts: { host, port, reason } })
}
