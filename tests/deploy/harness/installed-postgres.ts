import { execFileSync, type StdioOptions, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, chownSync, globSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import { freePort } from '../../../src/chaos/postgres/free-port.ts'

/**
 * The programs of a PostgreSQL that the machine has installed: where its server is, if `pg_dump` on the path is of the same
 * version. What the tests bring along has a server and no such programs.
 */
export function installedPrograms(): string | undefined {
  const version = /(\d+)/.exec(spawnSync('pg_dump', ['--version'], { encoding: 'utf8' }).stdout ?? '')?.[1]
  if (version === undefined || spawnSync('psql', ['--version']).status !== 0) return undefined
  return globSync(`/usr/lib/postgresql/${version}/bin`)[0]
}

/** Starts that server for one test; resolves with the URL of its database. */
export async function startInstalled(programs: string): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'holdfast-installed-'))
  chmodSync(folder, 0o755)
  const owner = ownerOf(folder)
  const stdio: StdioOptions = ['ignore', 'ignore', 'ignore']
  const options = { cwd: folder, stdio, env: { PATH: programs, LC_ALL: 'C' }, ...owner }
  const data = join(folder, 'data')
  const initial = ['--username=holdfast', '--auth=trust', '--encoding=UTF8', '--no-sync']
  execFileSync(join(programs, 'initdb'), [`--pgdata=${data}`, ...initial], options)
  const port = await freePort()
  const settings = ['listen_addresses=127.0.0.1', 'unix_socket_directories=', `port=${port}`]
  const server = spawn(join(programs, 'postgres'), ['-D', data, ...settings.flatMap((each) => ['-c', each])], options)
  onTestFinished(async () => {
    const ended = once(server, 'exit')
    server.kill('SIGINT')
    await ended
    rmSync(folder, { recursive: true, force: true })
  })
  const base = `postgres://holdfast@127.0.0.1:${port}`
  const isReady = () => spawnSync('psql', [`${base}/postgres`, '--command=CREATE DATABASE holdfast']).status === 0
  while (!isReady()) if (server.exitCode !== null) throw new Error('The server did not start')
  return `${base}/holdfast`
}

/** A server refuses to run as root. */
function ownerOf(folder: string): { readonly uid?: number; readonly gid?: number } {
  if (process.getuid?.() !== 0) return {}
  const idOf = (flag: string) => Number(execFileSync('id', [flag, 'postgres'], { encoding: 'utf8' }))
  const [uid, gid] = [idOf('-u'), idOf('-g')]
  chownSync(folder, uid, gid)
  return { uid, gid }
}
