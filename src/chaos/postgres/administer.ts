import type { SeededRandom } from '../seeded-random.ts'

export interface Administration {
  /** Ends some of the connections that come from these ports, each with even odds; says how many. */
  readonly terminate: (ports: readonly number[], random: SeededRandom) => Promise<number>
  drop(): Promise<void>
}

/**
 * What an operator can do in the database. A server that is given may serve others in the same database, so that a name does
 * not tell whose a connection is.
 */
export function administer(url: string, schema: string): Administration {
  const query = async (sql: string, values: readonly unknown[] = []): Promise<number> => {
    const { default: pg } = await import('pg')
    const client = new pg.Client({ connectionString: url, application_name: 'holdfast-chaos' })
    // A server that goes down while it is asked says so here as well.
    client.on('error', () => {})
    await client.connect()
    try {
      return (await client.query(sql, [...values])).rowCount ?? 0
    } finally {
      await client.end().catch(() => {})
    }
  }
  return {
    terminate: (ports, random) =>
      // A server that is down has no connections to end.
      query(
        `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
         WHERE datname = current_database() AND application_name = 'holdfast' AND client_port = ANY($1::int[]) AND (pid + $2) % 2 = 0`,
        [ports, random.below(2)],
      ).catch(() => 0),
    async drop() {
      await query(`DROP SCHEMA IF EXISTS ${schema} CASCADE`)
    },
  }
}
