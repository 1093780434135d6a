import assert from 'node:assert/strict'
import type { TaskId, ThreadKey } from '../../core/id.ts'
import type { TaskRecord } from '../../core/task.ts'
import type { ClaimQuery, Store } from '../../stores/store.ts'
import {
  accepting,
  added,
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
  pending,
  running,
  starting,
  unit,
} from './builders.ts'
import { type StoreCase, storeCase } from './store-case.ts'

async function starts(store: Store, query: Partial<ClaimQuery> = {}): Promise<string[]> {
  return idsOf((await offerOf(store, query)).starts)
}

/** What is offered to a node that holds its lease: where there are several, others are not asked about the dead. */
async function orphans(store: Store, query: Partial<ClaimQuery> = {}): Promise<string[]> {
  await store.renew('node_0', 60_000)
  return idsOf((await offerOf(store, { node: 'node_0', ...query })).orphans)
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
    assert.deepEqual(await orphans(store, query), ['bg_3'])
    const left = await offerOf(store, { ...query, node: 'node_0', except: [home, away] })
    assert.deepEqual(left, { starts: [], orphans: [] })
  }),

  storeCase('offers no orphan that is left out, but others of its thread', async (store) => {
    await commit(store, accepting(running('bg_0')), accepting(running('bg_1', { cancelRequestedAt: 1 })))
    await commit(store, accepting(running('bg_2')), accepting(pending('bg_3')))
    const exceptTasks = ['bg_0', 'bg_1', 'bg_3', 'bg_never'] as TaskId[]
    assert.deepEqual(await orphans(store, { exceptTasks, orphans: 1 }), ['bg_2'])
    assert.deepEqual(await starts(store, { exceptTasks }), ['bg_3'])
  }),

  storeCase('offers as orphans running tasks whose node holds no lease', async (store) => {
    await store.renew('node_1', 1000)
    await commit(store, accepting(running('bg_0')), accepting(running('bg_1', { node: 'node_2', key: away })))
    assert.deepEqual((await offerOf(store)).orphans, [{ id: 'bg_1', key: away, agent: 'echo' }])
  }),

  storeCase(
    'never offers a task under a lease, and offers it the instant the lease is over',
    async (store, { clock }) => {
      await store.renew('node_1', 1000)
      await commit(store, accepting(running('bg_0')))
      clock.advance(999)
      assert.deepEqual(await orphans(store), [])
      clock.advance(1)
      assert.deepEqual(await orphans(store), ['bg_0'])
    },
  ),

  storeCase('offers a running task of no node as an orphan', async (store) => {
    const { node: _, ...released } = running('bg_0')
    await store.renew('node_1', 1000)
    await commit(store, accepting(released))
    assert.deepEqual(await orphans(store), ['bg_0'])
  }),

  storeCase('offers a pending closure as an orphan when its node is gone', async (store) => {
    await store.renew('node_1', 1000)
    const closure = { closure: true, ready: true } as const
    await commit(store, accepting(pending('bg_0', { ...closure, node: 'node_1' })))
    await commit(store, accepting(pending('bg_1', { ...closure, node: 'node_2' })), accepting(pending('bg_2')))
    assert.deepEqual(await orphans(store), ['bg_1'])
  }),

  storeCase('offers no ended task as an orphan', async (store) => {
    await commit(store, accepting(running('bg_0')), accepting(running('bg_1')), ending(ended('bg_0')))
    await commit(store, unit({ tasks: [added(ended('bg_2', { closure: true }))] }))
    assert.deepEqual(await orphans(store), ['bg_1'])
  }),

  storeCase('offers no orphan that the node can neither go on with nor end', async (store) => {
    await commit(store, accepting(running('bg_0', { agent: 'demo' })), accepting(running('bg_1')))
    const closure = running('bg_2', { agent: 'demo', closure: true })
    const cancelling = running('bg_3', { agent: 'demo', cancelRequestedAt: 1 })
    await commit(store, accepting(closure), accepting(cancelling))
    assert.deepEqual(await orphans(store), ['bg_1', 'bg_2', 'bg_3'])
    assert.deepEqual(await orphans(store, { agents: ['demo'] }), ['bg_0', 'bg_2', 'bg_3'])
    assert.deepEqual(await orphans(store, { orphans: 1 }), ['bg_1'])
  }),

  storeCase('offers an orphan of any agent from the instant on at which its time is over', async (store, { clock }) => {
    const start = async (id: string, fields: Partial<TaskRecord>) => {
      const record = running(id, { agent: 'demo', timeoutMs: 1000, ...fields })
      await commit(store, accepting(pending(id, { agent: 'demo' })), starting(record))
    }
    await start('bg_0', { waitedMs: 500, description: 'nul \u0000, \ud800 and "timeoutMs":1' })
    await start('bg_1', {})
    await start('bg_2', { waitingSince: clock.now() })
    clock.advance(999)
    assert.deepEqual(await orphans(store), [])
    clock.advance(1)
    assert.deepEqual(await orphans(store), ['bg_1'])
    clock.advance(500)
    assert.deepEqual(await orphans(store, { agents: [] }), ['bg_0', 'bg_1'])
    const counted = await offerOf(store, { node: 'node_0', withCounts: true })
    assert.equal(counted.counts?.unclaimable, 1)
  }),

  storeCase('names the agent of an orphan unless it can only be ended', async (store, { clock }) => {
    const timed = running('bg_3', { timeoutMs: 1000 })
    await commit(store, accepting(running('bg_0')), accepting(running('bg_1', { cancelRequestedAt: 1 })))
    await commit(store, accepting(running('bg_2', { closure: true })), accepting(pending('bg_3')), starting(timed))
    const agents = async () => {
      await store.renew('node_0', 60_000)
      return (await offerOf(store, { node: 'node_0' })).orphans.map(({ agent }) => agent)
    }
    assert.deepEqual(await agents(), ['echo', undefined, undefined, 'echo'])
    clock.advance(1000)
    assert.deepEqual(await agents(), ['echo', undefined, undefined, undefined])
  }),

  storeCase('offers orphans of all nodes, the first accepted first, as many as asked', async (store) => {
    await commit(store, accepting(running('z', { node: 'node_8' })), accepting(running('y', { key: away })))
    await commit(store, accepting(running('x', { node: 'node_8' })), accepting(running('w')))
    assert.deepEqual(await orphans(store), ['z', 'y', 'x', 'w'])
    assert.deepEqual(await orphans(store, { orphans: 3 }), ['z', 'y', 'x'])
    assert.deepEqual(await orphans(store, { orphans: 0 }), [])
  }),

  storeCase('follows a task that is taken over to the lease of its new node', async (store) => {
    await store.renew('node_2', 1000)
    await commit(store, accepting(running('bg_0')))
    await commit(store, unit({ tasks: [changed(running('bg_0', { node: 'node_2', epoch: 2 }))] }))
    assert.deepEqual(await orphans(store), [])
    await store.renew('node_2', 0)
    assert.deepEqual(await orphans(store), ['bg_0'])
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

  storeCase('says of a renewal whether the lease was still held', async (store, { clock }) => {
    assert.deepEqual(await store.renew('node_1', 1000), { wasHeld: false })
    clock.advance(999)
    assert.deepEqual(await store.renew('node_1', 1000), { wasHeld: true })
    clock.advance(1000)
    assert.deepEqual(await store.renew('node_1', 1000), { wasHeld: false })
    assert.deepEqual(await store.renew('node_2', 1000), { wasHeld: false })
  }),

  storeCase('counts a renewal from its own moment, also to a shorter time', async (store, { clock }) => {
    await commit(store, accepting(running('bg_0')))
    await store.renew('node_1', 10_000)
    await store.renew('node_1', 100)
    clock.advance(60)
    await store.renew('node_1', 100)
    clock.advance(60)
    assert.deepEqual(await orphans(store), [])
    clock.advance(40)
    assert.deepEqual(await orphans(store), ['bg_0'])
  }),

  storeCase('gives a lease up at once, and only that one', async (store) => {
    await store.renew('node_1', 1000)
    await store.renew('node_2', 1000)
    await commit(store, accepting(running('bg_0')), accepting(running('bg_1', { node: 'node_2' })))
    assert.deepEqual(await store.renew('node_1', 0), { wasHeld: true })
    assert.deepEqual(await orphans(store), ['bg_0'])
    assert.deepEqual(await store.renew('node_1', 1000), { wasHeld: false })
  }),

  storeCase('counts the nodes that hold a lease', async (store) => {
    const nodeCount = async () => (await offerOf(store, { withCounts: true })).counts?.nodes
    assert.equal(await nodeCount(), 0)
    await store.renew('node_1', 60_000)
    await store.renew('node_2', 60_000)
    assert.equal(await nodeCount(), 2)
    await store.renew('node_1', 0)
    assert.equal(await nodeCount(), 1)
  }),
]
