import assert from 'node:assert/strict'
import type { AgentLimit, Offer } from '../../stores/claim.ts'
import type { Store } from '../../stores/store.ts'
import { accepting, away, bobsHome, commit, home, idsOf, offerOf, pending, running } from './builders.ts'
import { type StoreCase, storeCase } from './store-case.ts'

const agents = ['echo', 'demo']

function limited(limits: Readonly<Record<string, AgentLimit>>): { limits: ReadonlyMap<string, AgentLimit> } {
  return { limits: new Map(Object.entries(limits)) }
}

async function offer(store: Store, limits: Readonly<Record<string, AgentLimit>>, starts = 100): Promise<Offer> {
  await store.renew('node_0', 60_000)
  return offerOf(store, { node: 'node_0', agents, starts, ...limited(limits) })
}

export const agentLimitCases: StoreCase[] = [
  storeCase('offers no more of an agent than it has room for, the first accepted first', async (store) => {
    await commit(store, ...['bg_0', 'bg_1', 'bg_2'].map((id) => accepting(pending(id))))
    const offered = async (limit: AgentLimit) => idsOf((await offer(store, { echo: limit })).starts)
    assert.deepEqual(await offered({ max: 2, executing: 0 }), ['bg_0', 'bg_1'])
    assert.deepEqual(await offered({ max: 2, executing: 1 }), ['bg_0'])
    assert.deepEqual(await offered({ max: 2, executing: 2 }), [])
    assert.deepEqual(await offered({ max: 2, executing: 3 }), [])
    assert.deepEqual(await offered({ max: 9, executing: 3 }), ['bg_0', 'bg_1', 'bg_2'])
  }),

  storeCase('names the agents of what it offers, with a limit or without', async (store) => {
    await commit(store, accepting(pending('bg_0')), accepting(pending('bg_1', { agent: 'demo', key: away })))
    const { starts } = await offer(store, { echo: { max: 5, executing: 0 } })
    assert.deepEqual(starts, [
      { id: 'bg_0', key: home, agent: 'echo' },
      { id: 'bg_1', key: away, agent: 'demo' },
    ])
  }),

  storeCase('offers what others wait for, however much of an agent waits for room', async (store) => {
    const full = Array.from({ length: 20 }, (_, n) => accepting(pending(`bg_${n}`, { agent: 'demo' })))
    await commit(store, ...full, accepting(pending('z', { key: bobsHome })))
    const demo = { max: 3, executing: 2 }
    assert.deepEqual(idsOf((await offer(store, { demo }, 2)).starts), ['bg_0', 'z'])
    assert.deepEqual(idsOf((await offer(store, { demo: { max: 3, executing: 3 } }, 2)).starts), ['z'])
  }),

  storeCase('offers orphans of an agent without room only if they are to be ended', async (store) => {
    await commit(store, accepting(running('bg_0')), accepting(running('bg_1', { agent: 'demo' })))
    await commit(
      store,
      accepting(running('bg_2', { cancelRequestedAt: 1 })),
      accepting(running('bg_3', { closure: true })),
    )
    const full = await offer(store, { echo: { max: 1, executing: 1 } })
    assert.deepEqual(full.orphans, [
      { id: 'bg_1', key: home, agent: 'demo' },
      { id: 'bg_2', key: home },
      { id: 'bg_3', key: home },
    ])
    const { orphans } = await offer(store, { echo: { max: 2, executing: 1 } })
    assert.deepEqual(orphans[0], { id: 'bg_0', key: home, agent: 'echo' })
    assert.equal(orphans.length, 4)
  }),

  storeCase('offers orphans of agents with room also to a node that starts nothing', async (store) => {
    await commit(store, accepting(running('bg_0')), accepting(running('bg_1', { agent: 'demo' })))
    const { starts, orphans } = await offer(store, { echo: { max: 2, executing: 1 } }, 0)
    assert.deepEqual([idsOf(starts), idsOf(orphans)], [[], ['bg_0', 'bg_1']])
  }),

  storeCase('does not call an offer partial because of what has no room', async (store) => {
    await commit(store, ...['bg_0', 'bg_1', 'bg_2'].map((id) => accepting(pending(id))))
    assert.equal((await offer(store, { echo: { max: 1, executing: 0 } })).isPartial, undefined)
    assert.equal((await offer(store, { echo: { max: 1, executing: 1 } })).isPartial, undefined)
  }),

  storeCase('counts what the node cannot claim without regard to limits', async (store) => {
    await commit(store, accepting(pending('bg_0')), accepting(pending('bg_1', { agent: 'rare' })))
    const query = { agents, withCounts: true, ...limited({ echo: { max: 1, executing: 1 } }) }
    const { counts } = await offerOf(store, query)
    assert.deepEqual([counts?.pending, counts?.unclaimable], [2, 1])
  }),
]
