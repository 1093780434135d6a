import assert from 'node:assert/strict'
import { threadId, threadKey } from '../../core/id.ts'
import type { Store } from '../../stores/store.ts'
import {
  accepting,
  alice,
  away,
  codes,
  commit,
  commitOne,
  deltas,
  ended,
  ending,
  fenced,
  headOf,
  liveOf,
  pending,
  refused,
  running,
  starting,
  step,
  taskOf,
  unit,
} from './builders.ts'
import { type StoreCase, storeCase } from './store-case.ts'

async function withRunning(store: Store, ...names: string[]): Promise<void> {
  await commit(store, ...names.map((id) => accepting(running(id))))
}

export const fencingCases: StoreCase[] = [
  storeCase('commits a structural unit at the revision of the thread and raises it by one', async (store) => {
    await commit(store, unit({ rev: 0 }), unit({ rev: 1 }))
    assert.equal((await liveOf(store)).rev, 2)
  }),

  storeCase('refuses a structural unit of another revision as stale', async (store) => {
    await commit(store, unit({ rev: 0 }), unit({ rev: 1 }))
    assert.deepEqual(await refused(store, unit({ rev: 1 })), { code: 'stale' })
    assert.deepEqual(await refused(store, unit({ rev: 3 })), { code: 'stale' })
    assert.deepEqual(await refused(store, unit({ thread: away, rev: 1 })), { code: 'stale' })
    assert.equal((await liveOf(store)).rev, 2)
  }),

  storeCase('lets one of two units decided at the same revision through', async (store) => {
    const rivals = [accepting(pending('bg_0'), { rev: 0 }), accepting(pending('bg_1'), { rev: 0 })]
    assert.deepEqual(await codes(store, rivals), ['committed', 'stale'])
    assert.deepEqual(
      (await liveOf(store)).tasks.map((task) => task.id),
      ['bg_0'],
    )
  }),

  storeCase('refuses what was decided after a stale unit, though its revision fits by accident', async (store) => {
    await commit(store, unit({ rev: 0 }), unit({ rev: 1 }))
    const batch = [unit({ rev: 1 }), unit({ rev: 2 }), unit({ thread: away, rev: 0 }), unit({ events: deltas(1) })]
    assert.deepEqual(await codes(store, batch), ['stale', 'stale', 'committed', 'committed'])
    assert.deepEqual(await codes(store, [unit({ rev: 2 })]), ['committed'])
  }),

  storeCase('does not move the revision by a unit that states none', async (store) => {
    await withRunning(store, 'bg_0')
    await commit(store, fenced('bg_0', 1), unit({ events: deltas(1) }))
    assert.equal((await liveOf(store)).rev, 0)
  }),

  storeCase('keeps the revision of one thread apart from that of another', async (store) => {
    await commit(store, unit({ rev: 0 }), unit({ thread: away, rev: 0 }), unit({ rev: 1 }))
    assert.equal((await liveOf(store, away)).rev, 1)
  }),

  storeCase('commits what a running task writes under its epoch', async (store) => {
    await withRunning(store, 'bg_0')
    assert.equal((await commitOne(store, fenced('bg_0', 1))).first, 2)
  }),

  storeCase('refuses as fenced what an older or a later epoch writes', async (store) => {
    await commit(store, accepting(running('bg_0', { epoch: 3 })))
    assert.deepEqual(await refused(store, fenced('bg_0', 2)), { code: 'fenced' })
    assert.deepEqual(await refused(store, fenced('bg_0', 4)), { code: 'fenced' })
    assert.equal(await headOf(store), 1)
  }),

  storeCase('refuses as fenced what a pending task writes', async (store) => {
    await commit(store, accepting(pending('bg_0')))
    assert.deepEqual(await refused(store, fenced('bg_0', 0)), { code: 'fenced' })
  }),

  storeCase('refuses as fenced what a task writes after its end', async (store) => {
    await withRunning(store, 'bg_0', 'bg_1', 'bg_2')
    await commit(
      store,
      ending(ended('bg_0')),
      ending(ended('bg_1', { status: 'failed' })),
      ending(ended('bg_2', { status: 'cancelled' })),
    )
    for (const id of ['bg_0', 'bg_1', 'bg_2']) {
      assert.deepEqual(await refused(store, fenced(id, 1)), { code: 'fenced' })
    }
  }),

  storeCase('refuses as fenced a task that is unknown or of another thread', async (store) => {
    await withRunning(store, 'bg_0')
    assert.deepEqual(await refused(store, fenced('bg_9', 1)), { code: 'fenced' })
    assert.deepEqual(await refused(store, fenced('bg_0', 1, { thread: away })), { code: 'fenced' })
    assert.equal(await store.livePart(away), undefined)
  }),

  storeCase('writes nothing of a refused unit', async (store) => {
    await withRunning(store, 'bg_0')
    const before = await liveOf(store)
    const record = { ...(await taskOf(store, 'bg_0')), description: 'changed' }
    const tasks = [{ record, isNew: false, stamps: [] }]
    await refused(
      store,
      fenced('bg_0', 9, { tasks, report: { progress: 0.5 }, steps: [step('bg_0', 'a')], wakes: 5, rev: 0 }),
    )
    assert.deepEqual(await liveOf(store), before)
    assert.deepEqual(await store.steps(record.id), [])
    assert.equal(await headOf(store), 1)
  }),

  storeCase(
    'takes what others append beside a refused unit, whose thread stays as it was',
    async (store, { clock }) => {
      const elsewhere = (n: number) => threadKey(alice, threadId(`thread-${n}`))
      const ids = Array.from({ length: 6 }, (_, n) => `bg_${n}`)
      await commit(store, ...ids.map((id, n) => accepting(running(id, { key: elsewhere(n) }))))
      const { threads: before } = await store.threads({ principal: alice, limit: 10 })
      clock.advance(10_000)
      const appends = ids.map((id, n) => fenced(id, n % 2, { thread: elsewhere(n), events: deltas(2, id) }))
      const nobodys = fenced('bg_9', 1, { thread: threadKey(alice, threadId('unused')) })
      const expected = ['fenced', 'committed', 'fenced', 'committed', 'fenced', 'committed', 'fenced']
      assert.deepEqual(await codes(store, [...appends, nobodys].reverse()), expected.toReversed())
      assert.deepEqual(await codes(store, [accepting(pending('bg_8')), ...appends, nobodys]), [
        'committed',
        ...expected,
      ])
      const { threads } = await store.threads({ principal: alice, limit: 10 })
      const left = threads.filter(({ thread }) => before.some((known) => known.thread === thread))
      assert.deepEqual(
        left.map(({ thread, head }) => [thread, head]).sort(),
        ids.map((_, n) => [`thread-${n}`, n % 2 === 0 ? 1 : 5]),
      )
      for (const { thread, head, at } of left) if (head === 1) assert.equal(at, clock.now() - 10_000, thread)
      for (const id of ids) assert.equal((await taskOf(store, id)).seq, Number(id.at(-1)) % 2 === 0 ? 1 : 5)
      assert.equal((await store.events(elsewhere(1), { after: 0, limit: 10 })).events.length, 5)
    },
  ),

  storeCase('refuses the later units of a refused task and epoch, and no others', async (store) => {
    await withRunning(store, 'bg_0', 'bg_1')
    const batch = [
      fenced('bg_0', 1),
      fenced('bg_0', 1, { rev: 9 }),
      fenced('bg_1', 1),
      fenced('bg_0', 1),
      unit({ events: deltas(1) }),
      fenced('bg_0', 1),
    ]
    const expected = ['committed', 'stale', 'committed', 'after_refused', 'committed', 'after_refused']
    assert.deepEqual(await codes(store, batch), expected)
  }),

  storeCase('judges another epoch of the same task by itself', async (store) => {
    await withRunning(store, 'bg_0')
    assert.deepEqual(await codes(store, [fenced('bg_0', 0), fenced('bg_0', 1), fenced('bg_0', 0)]), [
      'fenced',
      'committed',
      'after_refused',
    ])
  }),

  storeCase('forgets a refusal with its batch', async (store) => {
    await withRunning(store, 'bg_0')
    await refused(store, fenced('bg_0', 1, { rev: 9 }))
    assert.deepEqual(await codes(store, [fenced('bg_0', 1)]), ['committed'])
  }),

  storeCase('refuses no executing unit after a stale unit that has no fence', async (store) => {
    await withRunning(store, 'bg_0')
    assert.deepEqual(await codes(store, [unit({ rev: 9 }), fenced('bg_0', 1)]), ['stale', 'committed'])
  }),

  storeCase('says stale of a unit that is both stale and fenced', async (store) => {
    await withRunning(store, 'bg_0')
    assert.deepEqual(await refused(store, fenced('bg_0', 9, { rev: 9 })), { code: 'stale' })
  }),

  storeCase('fences the later units of a batch by what its earlier units did', async (store) => {
    await commit(store, accepting(pending('bg_0')))
    const batch = [
      starting(running('bg_0'), { rev: 0 }),
      fenced('bg_0', 1),
      starting(running('bg_0', { epoch: 2, node: 'node_2' }), { rev: 1 }),
      fenced('bg_0', 1),
      fenced('bg_0', 2),
      ending(ended('bg_0', { epoch: 2 }), { rev: 2 }),
      fenced('bg_0', 2),
    ]
    const expected = ['committed', 'committed', 'committed', 'fenced', 'committed', 'committed', 'fenced']
    assert.deepEqual(await codes(store, batch), expected)
  }),

  storeCase('refuses a takeover as leased while the node it takes from holds a lease', async (store, { clock }) => {
    await withRunning(store, 'bg_0')
    const takeover = starting(running('bg_0', { epoch: 2, node: 'node_2' }), { rev: 0, lapsed: 'node_1' })
    await store.renew('node_1', 1000)
    clock.advance(999)
    assert.deepEqual(await refused(store, takeover), { code: 'leased' })
    assert.equal((await taskOf(store, 'bg_0')).epoch, 1)
    clock.advance(1)
    await commit(store, takeover)
    assert.equal((await taskOf(store, 'bg_0')).epoch, 2)
  }),

  storeCase('commits a takeover from a node that gave its lease up or never had one', async (store) => {
    await withRunning(store, 'bg_0')
    await store.renew('node_1', 1000)
    await store.renew('node_1', 0)
    await store.renew('node_3', 1000)
    assert.deepEqual(await codes(store, [unit({ lapsed: 'node_1' }), unit({ lapsed: 'node_2' })]), [
      'committed',
      'committed',
    ])
  }),

  storeCase('says stale or fenced of a takeover that is leased as well', async (store) => {
    await withRunning(store, 'bg_0')
    await store.renew('node_1', 1000)
    const batch = [
      unit({ rev: 9, lapsed: 'node_1' }),
      fenced('bg_0', 9, { lapsed: 'node_1' }),
      unit({ lapsed: 'node_1' }),
    ]
    assert.deepEqual(await codes(store, batch), ['stale', 'fenced', 'leased'])
  }),
]
