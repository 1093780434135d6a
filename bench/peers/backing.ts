// What peers stand on: a folder, a database of a PostgreSQL server of this run, a Redis. Each visit has its own.

import { type ChildProcess, spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { type AddressInfo, connect, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { type PostgresServer, startServer } from '../../tests/postgres/harness/server.ts'
import { newStoreUrl } from '../postgres/database.ts'

/** One PostgreSQL server for all visits, started when the first peer asks for it. Its settings are its own: `fsync` is on. */
export class Databases {
  #server: Promise<PostgresServer> | undefined

  server(): Promise<PostgresServer> {
    this.#server ??= startServer({}, tmpdir())
    return this.#server
  }

  async stop(): Promise<void> {
    await (await this.#server?.catch(() => undefined))?.stop()
  }
}

/** What one visit stands on. */
export class Backing {
  readonly folder = mkdtempSync(join(tmpdir(), 'holdfast-peers-'))
  readonly #databases: Databases
  #redis: ChildProcess | undefined

  constructor(databases: Databases) {
    this.#databases = databases
  }

  async storeUrl(): Promise<string> {
    return newStoreUrl(await this.#databases.server())
  }

  async databaseUrl(): Promise<string> {
    const url = new URL((await this.#databases.server()).url)
    url.pathname = `/peer_${randomUUID().replaceAll('-', '')}`
    return url.href
  }

  /** As BullMQ's page on production asks for it: an append-only file, synced every second, and nothing evicted. */
  async redisUrl(): Promise<string> {
    const port = await freePort()
    const settings = ['--bind', '127.0.0.1', '--dir', this.folder, '--appendonly', 'yes', '--save', '']
    const redis = spawn('redis-server', ['--port', String(port), ...settings, '--maxmemory-policy', 'noeviction'], {
      stdio: 'ignore',
    })
    this.#redis = redis
    await Promise.race([
      listening(port),
      once(redis, 'error').then(([error]) => Promise.reject(error as Error)),
      once(redis, 'exit').then(() => Promise.reject(new Error('redis-server ended'))),
    ])
    return `redis://127.0.0.1:${port}`
  }

  async end(): Promise<void> {
    const redis = this.#redis
    if (redis?.pid !== undefined && redis.exitCode === null) {
      redis.kill()
      await once(redis, 'exit')
    }
    rmSync(this.folder, { recursive: true, force: true })
  }
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  return port
}

async function listening(port: number): Promise<void> {
  for (let tries = 0; tries < 200; tries++) {
    const socket = connect(port, '127.0.0.1')
    const isOpen = await new Promise((resolve) => {
      socket.once('connect', () => resolve(true))
      socket.once('error', () => resolve(false))
    })
    socket.destroy()
    if (isOpen) return
    await sleep(25)
  }
  throw new Error('redis-server does not listen')
}
