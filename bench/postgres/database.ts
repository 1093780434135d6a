import { randomUUID } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import pg from 'pg'
import { type PostgresServer, startServer } from '../../tests/postgres/harness/server.ts'

/** Starts a server with its data on the disk and its own settings, but for what a benchmark asks for, and stops it at the end. */
export async function withServer(
  work: (server: PostgresServer) => Promise<void>,
  settings: Readonly<Record<string, string>> = {},
): Promise<void> {
  const server = await startServer(settings, tmpdir())
  try {
    await work(server)
  } finally {
    await server.stop()
  }
}

/** The URL of a store that is not there yet. */
export function newStoreUrl(server: PostgresServer): string {
  return `${server.url}?schema=bench_${randomUUID().replaceAll('-', '')}`
}

const migrations = new URL('../../src/stores/postgres/migrations/', import.meta.url)

/** A connection to a schema with our tables and nothing of our code: what the baselines write to. In `sql` they have no schema. */
export async function bareClient(server: PostgresServer): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: server.url })
  await client.connect()
  const schema = `bare_${randomUUID().replaceAll('-', '')}`
  await client.query(`CREATE SCHEMA ${schema}; SET search_path = ${schema}; SET jit = off`)
  for (const name of readdirSync(migrations).sort()) {
    await client.query(readFileSync(new URL(name, migrations), 'utf8').replaceAll(/\bholdfast\./g, `${schema}.`))
  }
  return client
}
