import assert from 'node:assert/strict'
import type { TaskId } from '../../core/id.ts'
import type { TaskRecord } from '../../core/task.ts'
import {
  accepting,
  added,
  away,
  changed,
  commit,
  ended,
  ending,
  idsOf,
  offerOf,
  orphansOf,
  pending,
  running,
  starting,
  unit,
} from './builders.ts'
import { type StoreCase, storeCase } from './store-case.ts'

export const orphanCases: StoreCase[] = [
  storeCase('offers no orphan that is left out, but others of its thread', async (store) => {
    await commit(store, accepting(running('bg_0')), accepting(running('bg_1', { cancelRequestedAt: 1 })))
    await commit(store, accepting(running('bg_2')), accepting(pending('bg_3')))
    const exceptTasks = ['bg_0', 'bg_1', 'bg_3', 'bg_never'] as TaskId[]
    assert.deepEqual(await orphansOf(store, { exceptTasks, orphans: 1 }), ['bg_2'])
    assert.deepEqual(idsOf((await offerOf(store, { exceptTasks })).starts), ['bg_3'])
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
      assert.deepEqual(await orphansOf(store), [])
      clock.advance(1)
      assert.deepEqual(await orphansOf(store), ['bg_0'])
    },
  ),

  storeCase('offers a running task of no node as an orphan', async (store) => {
    const { node: _, ...released } = running('bg_0')
    await store.renew('node_1', 1000)
    await commit(store, accepting(released))
    assert.deepEqual(await orphansOf(store), ['bg_0'])
  }),

  storeCase(
    'offers a node what is under its lease beside what it executes, of any agent, and nothing else',
    async (store) => {
      await store.renew('node_1', 60_000)
      await store.renew('node_2', 60_000)
      const closure = pending('bg_3', { closure: true, node: 'node_1' })
      await commit(store, accepting(running('bg_0')), accepting(running('bg_1', { agent: 'demo', key: away })))
      await commit(
        store,
        accepting(running('bg_2', { node: 'node_2' })),
        accepting(closure),
        accepting(pending('bg_4')),
      )
      await commit(store, accepting(running('bg_5', { node: 'gone' })), accepting(running('bg_6')))
      await commit(store, ending(ended('bg_6')))
      const strays = (executing: string[], query = {}) =>
        offerOf(store, { node: 'node_1', agents: [], executing: executing as TaskId[], ...query })
      assert.deepEqual(await strays(['bg_0', 'bg_3', 'bg_never']), {
        starts: [],
        orphans: [{ id: 'bg_1', key: away, agent: 'demo' }],
      })
      assert.deepEqual(idsOf((await strays([])).orphans), ['bg_0', 'bg_1', 'bg_3'])
      assert.deepEqual(idsOf((await strays(['bg_0'], { orphans: 1 })).orphans), ['bg_1'])
      assert.deepEqual((await strays(['bg_0', 'bg_1', 'bg_3'])).orphans, [])
    },
  ),

  storeCase('offers a pending closure as an orphan when its node is gone', async (store) => {
    await store.renew('node_1', 1000)
    const closure = { closure: true, ready: true } as const
    await commit(store, accepting(pending('bg_0', { ...closure, node: 'node_1' })))
    await commit(store, accepting(pending('bg_1', { ...closure, node: 'node_2' })), accepting(pending('bg_2')))
    assert.deepEqual(await orphansOf(store), ['bg_1'])
  }),

  storeCase('offers no ended task as an orphan', async (store) => {
    await commit(store, accepting(running('bg_0')), accepting(running('bg_1')), ending(ended('bg_0')))
    await commit(store, unit({ tasks: [added(ended('bg_2', { closure: true }))] }))
    assert.deepEqual(await orphansOf(store), ['bg_1'])
  }),

  storeCase('offers no orphan that the node can neither go on with nor end', async (store) => {
    await commit(store, accepting(running('bg_0', { agent: 'demo' })), accepting(running('bg_1')))
    const closure = running('bg_2', { agent: 'demo', closure: true })
    const cancelling = running('bg_3', { agent: 'demo', cancelRequestedAt: 1 })
    await commit(store, accepting(closure), accepting(cancelling))
    assert.deepEqual(await orphansOf(store), ['bg_1', 'bg_2', 'bg_3'])
    assert.deepEqual(await orphansOf(store, { agents: ['demo'] }), ['bg_0', 'bg_2', 'bg_3'])
    assert.deepEqual(await orphansOf(store, { orphans: 1 }), ['bg_1'])
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
    assert.deepEqual(await orphansOf(store), [])
    clock.advance(1)
    assert.deepEqual(await orphansOf(store), ['bg_1'])
    clock.advance(500)
    assert.deepEqual(await orphansOf(store, { agents: [] }), ['bg_0', 'bg_1'])
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
    assert.deepEqual(await orphansOf(store), ['z', 'y', 'x', 'w'])
    assert.deepEqual(await orphansOf(store, { orphans: 3 }), ['z', 'y', 'x'])
    assert.deepEqual(await orphansOf(store, { orphans: 0 }), [])
  }),

  storeCase('follows a task that is taken over to the lease of its new node', async (store) => {
    await store.renew('node_2', 1000)
    await commit(store, accepting(running('bg_0')))
    await commit(store, unit({ tasks: [changed(running('bg_0', { node: 'node_2', epoch: 2 }))] }))
    assert.deepEqual(await orphansOf(store), [])
    await store.renew('node_2', 0)
    assert.deepEqual(await orphansOf(store), ['bg_0'])
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
    assert.deepEqual(await orphansOf(store), [])
    clock.advance(40)
    assert.deepEqual(await orphansOf(store), ['bg_0'])
  }),

  storeCase('gives a lease up at once, and only that one', async (store) => {
    await store.renew('node_1', 1000)
    await store.renew('node_2', 1000)
    await commit(store, accepting(running('bg_0')), accepting(running('bg_1', { node: 'node_2' })))
    assert.deepEqual(await store.renew('node_1', 0), { wasHeld: true })
    assert.deepEqual(await orphansOf(store), ['bg_0'])
    assert.deepEqual(await store.renew('node_1', 1000), { wasHeld: false })
  }),
]
