import { randomUUID } from 'node:crypto'
import pg from 'pg'
import { inject } from 'vitest'

/** A schema for one test. */
export interface TestSchema {
  readonly url: string
  readonly name: string
  /** In `sql`, `holdfast.` stands for the schema. */
  query<Row>(sql: string, values?: readonly unknown[]): Promise<Row[]>
  /** Has another program begin a transaction with this, which holds what it locks until it is let go. */
  hold(sql: string, values?: readonly unknown[]): Promise<() => Promise<void>>
  drop(): Promise<void>
}

/** The backends that listen to the notices of a store. */
export const listening = `FROM pg_stat_activity WHERE query = 'LISTEN ' || (SELECT channel FROM holdfast.meta)`

/** Names a schema that nobody else uses. The store that is opened on it makes it. */
export function testSchema(server = inject('postgresUrl')): TestSchema {
  const name = `test_${randomUUID().replaceAll('-', '')}`
  const query = async <Row>(sql: string, values: readonly unknown[] = []): Promise<Row[]> => {
    const client = new pg.Client({ connectionString: server })
    await client.connect()
    try {
      return (await client.query(sql.replaceAll(/\bholdfast\./g, `${name}.`), [...values])).rows as Row[]
    } finally {
      await client.end()
    }
  }
  const holders: pg.Client[] = []
  return {
    url: `${server}?schema=${name}`,
    name,
    query,
    async hold(sql, values = []) {
      const client = new pg.Client({ connectionString: server })
      await client.connect()
      holders.push(client)
      await client.query('BEGIN')
      await client.query(sql.replaceAll(/\bholdfast\./g, `${name}.`), [...values])
      return async () => void (await client.query('ROLLBACK'))
    },
    async drop() {
      for (const client of holders) await client.end()
      // What a process has sent before it was killed may still be executed, and lock the tables in another order.
      await query(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity
        WHERE state = 'active' AND query LIKE '%${name}%' AND pid <> pg_backend_pid()`)
      await query(`DROP SCHEMA IF EXISTS ${name} CASCADE`)
    },
  }
}

/** A schema in a database that no other test uses, for what is one for all schemas of a database. */
export async function ownDatabase(): Promise<TestSchema> {
  const { name, url: shared, query } = testSchema()
  await query(`CREATE DATABASE ${name}`)
  const url = new URL(shared)
  url.pathname = name
  url.search = ''
  return testSchema(url.href)
}
