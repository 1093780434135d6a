import { randomUUID } from 'node:crypto'
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { afterAll, beforeAll } from 'vitest'
import { type PostgresServer, startServer } from '../../postgres/harness/server.ts'

export interface TestDatabase {
  readonly url: string
  readonly name: string
  /** In `sql`, `holdfast.` is the schema that the nodes make. */
  query<Row>(sql: string, values?: readonly unknown[]): Promise<Row[]>
}

export interface DatabaseServer {
  readonly server: PostgresServer
  /** A new database on it, of a name that needs no quotes. */
  database(): Promise<TestDatabase>
}

/** A server for the tests of a file, on which the user `locked` needs a password: `right`. */
export function databaseServer(settings: Readonly<Record<string, string>> = {}): () => DatabaseServer {
  let folder = ''
  let started: DatabaseServer | undefined
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'holdfast-hba-'))
    const hba = join(folder, 'hba.conf')
    writeFileSync(hba, 'host all locked 127.0.0.1/32 scram-sha-256\nhost all all 127.0.0.1/32 trust\n')
    // The server may run as another user.
    chmodSync(folder, 0o755)
    const server = await startServer({ hba_file: hba, ...settings })
    await ask(server.url, `CREATE ROLE locked LOGIN SUPERUSER PASSWORD 'right'`)
    started = { server, database: () => createDatabase(server) }
  })
  afterAll(async () => {
    await started?.server.stop()
    rmSync(folder, { recursive: true, force: true })
  })
  return () => {
    if (!started) throw new Error('The server was not started')
    return started
  }
}

async function createDatabase(server: PostgresServer): Promise<TestDatabase> {
  const name = `d${randomUUID().replaceAll('-', '')}`
  await ask(server.url, `CREATE DATABASE ${name}`)
  const url = server.url.replace(/\/postgres$/, `/${name}`)
  return { url, name, query: (sql, values) => ask(url, sql, values) }
}

async function ask<Row>(url: string, sql: string, values: readonly unknown[] = []): Promise<Row[]> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    return (await client.query(sql, [...values])).rows as Row[]
  } finally {
    await client.end()
  }
}
