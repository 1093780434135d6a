import pg from 'pg'
import { afterEach, beforeEach, describe, expect, inject, it } from 'vitest'
import { taskId, threadId, threadKey } from '../../src/core/id.ts'
import { headStartMs } from '../../src/stores/claim.ts'
import { postgresStore } from '../../src/stores/postgres/index.ts'
import type { Store } from '../../src/stores/store.ts'
import { manualClock } from '../../src/testing/index.ts'
import { accepting, alice, commit, idsOf, pending, running, starting } from '../../src/testing/store-suite/builders.ts'
import { type TestSchema, testSchema } from './harness/schema.ts'

const clock = manualClock()
const one = threadKey(alice, threadId('one'))
const two = threadKey(alice, threadId('two'))
let schema: TestSchema
let store: Store

beforeEach(async () => {
  schema = testSchema()
  store = postgresStore({ url: schema.url, clock })
  await store.open()
})

afterEach(async () => {
  await store.close()
  await schema.drop()
})

async function offer(node: string, count: number, own?: readonly string[]) {
  const mine = own && { own: own.map(taskId) }
  const query = { node, agents: ['echo', 'demo'], starts: count, orphans: count, withCounts: false, ...mine }
  const { starts, orphans } = await store.claim(query)
  return { starts: idsOf(starts), orphans: idsOf(orphans) }
}

async function twoNodes(): Promise<void> {
  await store.renew('node_1', 10_000)
  await store.renew('node_2', 10_000)
}

describe('an offer', () => {
  it('is not made to a second node for a while', async () => {
    await twoNodes()
    await commit(store, ...['bg_0', 'bg_1', 'bg_2'].map((id) => accepting(pending(id))))
    expect(await offer('node_1', 2)).toEqual({ starts: ['bg_0', 'bg_1'], orphans: [] })
    expect(await offer('node_2', 2)).toEqual({ starts: ['bg_2'], orphans: [] })
    await clock.advance(1_000)
    expect(await offer('node_2', 3)).toEqual({ starts: ['bg_0', 'bg_1', 'bg_2'], orphans: [] })
  })

  it('of what came to wait a moment ago is made to the node that let it wait, and to others after that moment', async () => {
    await twoNodes()
    await commit(store, ...['bg_0', 'bg_1'].map((id) => accepting(pending(id))))
    expect(await offer('node_2', 5, [])).toEqual({ starts: [], orphans: [] })
    expect(await offer('node_1', 5, ['bg_1'])).toEqual({ starts: ['bg_1'], orphans: [] })
    await clock.advance(headStartMs - 1)
    expect(await offer('node_2', 5, ['bg_7'])).toEqual({ starts: [], orphans: [] })
    await clock.advance(1)
    expect(await offer('node_2', 5, [])).toEqual({ starts: ['bg_0'], orphans: [] })
  })

  it('of what was accepted before the clock was set back is made to any node', async () => {
    await commit(store, accepting(pending('bg_0')))
    const behind = postgresStore({ url: schema.url, clock: { now: () => clock.now() - 60_000 } })
    await behind.open()
    const query = { node: 'node_2', agents: ['echo'], starts: 5, orphans: 0, withCounts: false, own: [] }
    expect(idsOf((await behind.claim(query)).starts)).toEqual(['bg_0'])
    await behind.close()
  })

  it('that holds back what another node let wait says that there is more', async () => {
    await commit(store, accepting(pending('bg_0')))
    const query = { node: 'node_2', agents: ['echo'], starts: 5, orphans: 0, withCounts: false }
    expect(await store.claim({ ...query, own: [] })).toEqual({ starts: [], orphans: [], hasLeft: true })
    expect(await store.claim({ ...query, own: [taskId('bg_0')] })).not.toHaveProperty('hasLeft')
  })

  it('where an agent has a limit is made in the order of acceptance, whoever let it wait', async () => {
    await commit(store, ...['bg_0', 'bg_1', 'bg_2'].map((id) => accepting(pending(id))))
    const limits = new Map([['echo', { max: 1, executing: 0 }]])
    const query = { node: 'node_1', agents: ['echo'], starts: 5, orphans: 0, withCounts: false, limits }
    expect(idsOf((await store.claim({ ...query, own: [taskId('bg_1')] })).starts)).toEqual(['bg_0'])
  })

  it('is made to the same node again', async () => {
    await twoNodes()
    await commit(store, accepting(pending('bg_0')))
    expect(await offer('node_1', 5)).toEqual({ starts: ['bg_0'], orphans: [] })
    expect(await offer('node_1', 5)).toEqual({ starts: ['bg_0'], orphans: [] })
  })

  it('is made to others at once when the lease of its node is over', async () => {
    await twoNodes()
    await commit(store, accepting(pending('bg_0')))
    await offer('node_1', 5)
    expect(await offer('node_2', 5)).toEqual({ starts: [], orphans: [] })
    await store.renew('node_1', 0)
    expect(await offer('node_2', 5)).toEqual({ starts: ['bg_0'], orphans: [] })
  })

  it('of an orphan is made to one node at a time', async () => {
    await twoNodes()
    await commit(store, accepting(running('bg_0', { node: 'node_9' })), accepting(running('bg_1', { node: 'node_8' })))
    expect(await offer('node_1', 1)).toEqual({ starts: [], orphans: ['bg_0'] })
    expect(await offer('node_2', 5)).toEqual({ starts: [], orphans: ['bg_1'] })
  })

  it('of an orphan is not made to a node that has lost its own lease', async () => {
    await twoNodes()
    await commit(store, accepting(running('bg_0', { node: 'node_9' })), accepting(pending('bg_1')))
    await clock.advance(10_000)
    await store.renew('node_2', 10_000)
    expect(await offer('node_1', 5)).toEqual({ starts: ['bg_1'], orphans: [] })
    expect(await offer('node_3', 5)).toEqual({ starts: ['bg_1'], orphans: [] })
    expect(await offer('node_2', 5)).toEqual({ starts: ['bg_1'], orphans: ['bg_0'] })
  })

  it('leaves out a thread that a transaction has locked as long as there are others', async () => {
    await commit(store, ...[one, two].map((key, n) => accepting(pending(`bg_${n}`, { key }))))
    const other = new pg.Client({ connectionString: inject('postgresUrl') })
    await other.connect()
    await other.query('BEGIN')
    await other.query(`SELECT FROM ${schema.name}.threads WHERE key = $1 FOR NO KEY UPDATE`, [one])
    expect(await offer('node_1', 1)).toEqual({ starts: ['bg_1'], orphans: [] })
    await commit(store, starting(running('bg_1', { key: two })))
    expect((await offer('node_1', 1)).starts).toEqual(['bg_0'])
    await other.query('ROLLBACK')
    await other.end()
    expect((await offer('node_1', 1)).starts).toEqual(['bg_0'])
  })
})
