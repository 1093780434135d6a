import assert from 'node:assert/strict'
import type { ThreadKey } from '../../core/id.ts'
import type { ClaimQuery } from '../../stores/claim.ts'
import type { Store } from '../../stores/store.ts'
import {
  accepting,
  alice,
  away,
  bob,
  bobsHome,
  changed,
  commit,
  ended,
  ending,
  home,
  idsOf,
  offerOf,
  orphansOf,
  pending,
  running,
  starting,
  unit,
} from './builders.ts'
import { type StoreCase, storeCase } from './store-case.ts'

async function starts(store: Store, query: Partial<ClaimQuery> = {}): Promise<string[]> {
  return idsOf((await offerOf(store, query)).starts)
}

export const claimCases: StoreCase[] = [
  storeCase('offers pending tasks that are ready, with their threads', async (store) => {
    await commit(store, accepting(pending('bg_0')), accepting(pending('bg_1', { ready: false })))
    await commit(store, accepting(pending('bg_2', { key: bobsHome })), accepting(running('bg_3')))
    assert.deepEqual((await offerOf(store)).starts, [
      { id: 'bg_0', key: home, agent: 'echo' },
      { id: 'bg_2', key: bobsHome, agent: 'echo' },
    ])
  }),

  storeCase('offers the task that was accepted first, over all threads', async (store) => {
    await commit(store, accepting(pending('z', { place: 9 })), accepting(pending('m', { key: away })))
    await commit(store, accepting(pending('a', { key: bobsHome })), accepting(pending('b')))
    assert.deepEqual(await starts(store), ['z', 'm', 'a', 'b'])
    assert.deepEqual(await starts(store, { starts: 2 }), ['z', 'm'])
    assert.deepEqual(await starts(store, { starts: 0 }), [])
  }),

  storeCase('puts a task that becomes ready late before those accepted after it', async (store) => {
    await commit(store, accepting(pending('bg_0', { ready: false })), accepting(pending('bg_1')))
    assert.deepEqual(await starts(store), ['bg_1'])
    await commit(store, unit({ tasks: [changed(pending('bg_0'))] }))
    assert.deepEqual(await starts(store), ['bg_0', 'bg_1'])
  }),

  storeCase('offers only tasks of agents that the node has', async (store) => {
    const { agent: _, ...none } = pending('bg_3')
    await commit(store, accepting(pending('bg_0', { agent: 'script' })), accepting(pending('bg_1')))
    await commit(store, accepting(pending('bg_2', { agent: 'demo' })), accepting(none))
    assert.deepEqual(await starts(store, { agents: ['echo', 'script', 'echo'] }), ['bg_0', 'bg_1'])
    assert.deepEqual(await starts(store, { agents: [] }), [])
    assert.deepEqual(await starts(store, { agents: ['Echo', ''] }), [])
  }),

  storeCase('offers a task no more once it was started, ended or made unready', async (store) => {
    await commit(store, ...['bg_0', 'bg_1', 'bg_2', 'bg_3'].map((id) => accepting(pending(id))))
    await commit(store, starting(running('bg_0')), ending(ended('bg_1', { status: 'cancelled' })))
    await commit(store, unit({ tasks: [changed(pending('bg_2', { ready: false }))] }))
    assert.deepEqual(await starts(store), ['bg_3'])
  }),

  storeCase('offers nothing that is running or ended, even if its record calls it ready', async (store) => {
    await store.renew('node_1', 1000)
    await commit(store, accepting(running('bg_0', { ready: true })), accepting(ended('bg_1', { ready: true })))
    assert.deepEqual(await starts(store), [])
    const openByPrincipal = new Map([[alice, 1]])
    const counts = { pending: 0, unclaimable: 0, openByPrincipal, owedHooks: 0, nodes: 1 }
    assert.deepEqual((await offerOf(store, { agents: [], withCounts: true })).counts, counts)
  }),

  storeCase('never offers a closure to be started', async (store) => {
    await commit(store, accepting(pending('bg_0', { closure: true, node: 'node_1' })))
    assert.deepEqual(await starts(store), [])
  }),

  storeCase('offers nothing of threads that are left out, and what comes after it instead', async (store) => {
    await commit(store, accepting(pending('bg_0')), accepting(pending('bg_1', { key: away })))
    await commit(store, accepting(running('bg_2')), accepting(running('bg_3', { key: away })))
    const query = { except: [home, 'alice/never'] as ThreadKey[], starts: 1, orphans: 1 }
    assert.deepEqual(await starts(store, query), ['bg_1'])
    assert.deepEqual(await orphansOf(store, query), ['bg_3'])
    const left = await offerOf(store, { ...query, node: 'node_0', except: [home, away] })
    assert.deepEqual(left, { starts: [], orphans: [] })
  }),

  storeCase('counts what is pending and what the node cannot claim, when asked', async (store) => {
    const { agent: _, ...none } = pending('bg_5')
    await store.renew('node_1', 1000)
    await commit(store, accepting(pending('bg_0')), accepting(pending('bg_1', { agent: 'demo' })))
    await commit(store, accepting(pending('bg_2', { agent: 'demo', ready: false })), accepting(running('bg_3')))
    await commit(store, accepting(pending('bg_4', { agent: 'demo', closure: true })), accepting(none))
    const openByPrincipal = new Map([[alice, 6]])
    const counts = { pending: 5, unclaimable: 2, openByPrincipal, owedHooks: 0, nodes: 1 }
    assert.deepEqual((await offerOf(store, { withCounts: true })).counts, counts)
    assert.deepEqual((await offerOf(store, { withCounts: true, agents: [] })).counts, { ...counts, unclaimable: 3 })
    assert.equal('counts' in (await offerOf(store)), false)
  }),

  storeCase('counts what a node left behind that no agent here can go on with, when asked', async (store) => {
    const counted = async () => (await offerOf(store, { node: 'node_2', withCounts: true })).counts?.unclaimable
    const { agent: _, ...none } = running('bg_4', { closure: true })
    const asked = running('bg_3', { agent: 'demo', cancelRequestedAt: 1 })
    await commit(store, accepting(running('bg_0')), accepting(running('bg_1', { agent: 'demo' })), accepting(asked))
    await commit(store, accepting(running('bg_2', { agent: 'demo', node: 'node_3' })), accepting(none))
    await Promise.all(['node_1', 'node_2', 'node_3'].map((node) => store.renew(node, 1000)))
    assert.equal(await counted(), 0)
    await store.renew('node_1', 0)
    assert.equal(await counted(), 1)
    await store.renew('node_3', 0)
    assert.equal(await counted(), 2)
  }),

  storeCase('counts what has not ended by principal, over all threads, when asked', async (store) => {
    const counted = async () => (await offerOf(store, { withCounts: true })).counts?.openByPrincipal
    assert.deepEqual(await counted(), new Map())
    await commit(store, accepting(pending('bg_0')), accepting(running('bg_1', { key: away })))
    await commit(store, accepting(pending('bg_2', { ready: false })), accepting(pending('bg_3', { key: bobsHome })))
    await commit(store, accepting(running('bg_4', { key: bobsHome, type: 'run' })))
    assert.deepEqual(
      await counted(),
      new Map([
        [alice, 3],
        [bob, 2],
      ]),
    )
    const ends = [ended('bg_0', { status: 'cancelled' }), ended('bg_3', { key: bobsHome })]
    await commit(store, ...ends.map((end) => ending(end)), ending(ended('bg_4', { key: bobsHome, type: 'run' })))
    assert.deepEqual(await counted(), new Map([[alice, 2]]))
  }),

  storeCase('counts the nodes that hold a lease, when asked', async (store, { clock }) => {
    const counted = async () => (await offerOf(store, { withCounts: true })).counts?.nodes
    assert.equal(await counted(), 0)
    await store.renew('node_1', 1000)
    await store.renew('node_2', 2000)
    assert.equal(await counted(), 2)
    clock.advance(1000)
    assert.equal(await counted(), 1)
    await store.renew('node_2', 0)
    assert.equal(await counted(), 0)
  }),
]
