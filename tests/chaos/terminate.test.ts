import pg from 'pg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { administer } from '../../src/chaos/postgres/administer.ts'
import { type PostgresServer, startServer } from '../../src/chaos/postgres/own-server.ts'
import { StoreProxy } from '../../src/chaos/postgres/store-proxy.ts'
import { SeededRandom } from '../../src/chaos/seeded-random.ts'

let server: PostgresServer
let proxy: StoreProxy

beforeAll(async () => {
  server = await startServer()
  proxy = await StoreProxy.start(server.url)
})

afterAll(async () => {
  await proxy.close()
  await server.stop()
})

async function connected(connectionString: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString, application_name: 'holdfast' })
  client.on('error', () => {})
  await client.connect()
  return client
}

describe('ending connections from within', () => {
  it('ends those of the own nodes, and none of a deployment beside them in the same database', async () => {
    const own = await connected(proxy.url)
    const others = await Promise.all(Array.from({ length: 8 }, () => connected(server.url)))
    const ended = new Promise((resolve) => own.once('end', resolve))
    const random = new SeededRandom(1)
    let count = 0
    // Each time it is spared with even odds.
    for (let times = 0; times < 40 && count === 0; times += 1) {
      count = await administer(server.url, 'chaos_1').terminate(proxy.ports, random)
    }
    expect(count).toBe(1)
    await ended
    for (const other of others) expect((await other.query('SELECT 1 AS one')).rows).toEqual([{ one: 1 }])
    await Promise.all(others.map((other) => other.end()))
  })
})
