import assert from 'node:assert/strict'
import { type HookRecord, owing } from '../../core/hook.ts'
import { type ThreadKey, taskId } from '../../core/id.ts'
import type { TaskRecord } from '../../core/task.ts'
import type { Unit } from '../../core/unit.ts'
import type { OwedQuery, Store } from '../../stores/store.ts'
import {
  accepting,
  away,
  bobsHome,
  changed,
  commit,
  ended,
  ending,
  event,
  home,
  idsOf,
  running,
  unit,
} from './builders.ts'
import { type StoreCase, storeCase } from './store-case.ts'

/** Accepted, and ended by a unit that says what is owed. */
async function withOwed(store: Store, id: string, fields: Partial<Omit<TaskRecord, 'status'>> = {}): Promise<void> {
  const hooks = [owing(taskId(id))]
  await commit(store, accepting(running(id, fields)), ending(ended(id, fields), { hooks }))
}

function settling(id: string, hook?: HookRecord, thread: ThreadKey = home): Unit {
  return unit({ operation: 'hook', thread, hooks: [{ task: taskId(id), ...(hook && { hook }) }] })
}

async function owed(store: Store, query: Partial<OwedQuery> = {}): Promise<string[]> {
  return idsOf((await store.tasks({ owedBy: store.clock.now(), limit: 100, ...query })).tasks)
}

async function hookOf(store: Store, id: string): Promise<HookRecord | undefined> {
  return (await store.task(taskId(id)))?.hook
}

async function count(store: Store): Promise<number | undefined> {
  const query = { node: 'node_9', agents: [], starts: 0, orphans: 0, withCounts: true }
  return (await store.claim(query)).counts?.owedHooks
}

export const hookCases: StoreCase[] = [
  storeCase('owes a hook with the unit that ends a task, due at its commit', async (store, { clock }) => {
    await commit(store, accepting(ended('bg_9')))
    assert.deepEqual(await owed(store), [])
    clock.advance(10)
    await withOwed(store, 'bg_0')
    assert.deepEqual(await hookOf(store, 'bg_0'), { attempts: 0, nextAt: clock.now() })
    assert.deepEqual(await owed(store), ['bg_0'])
    assert.deepEqual(await owed(store, { owedBy: clock.now() - 1 }), [])
  }),

  storeCase('lists what is owed to all principals in the order in which it is due', async (store, { clock }) => {
    await withOwed(store, 'bg_0')
    clock.advance(10)
    await withOwed(store, 'bg_1', { key: bobsHome })
    await withOwed(store, 'bg_2', { key: away })
    const later = clock.now() + 5
    await commit(store, settling('bg_0', { attempts: 1, error: 'no', nextAt: later }))
    assert.deepEqual(await owed(store), ['bg_1', 'bg_2'])
    assert.deepEqual(await owed(store, { owedBy: later }), ['bg_1', 'bg_2', 'bg_0'])
    assert.deepEqual(await owed(store, { owedBy: later, limit: 2 }), ['bg_1', 'bg_2'])
  }),

  storeCase('lists what is owed in one thread', async (store) => {
    await withOwed(store, 'bg_0')
    await withOwed(store, 'bg_1', { key: away })
    assert.deepEqual(await owed(store, { key: away }), ['bg_1'])
    assert.deepEqual(await owed(store, { key: bobsHome }), [])
  }),

  storeCase('keeps how a hook failed, also when it is given up, and nothing once it is paid', async (store) => {
    await withOwed(store, 'bg_0')
    await commit(store, settling('bg_0', { attempts: 1, error: 'späť 💥', nextAt: 7 }))
    assert.deepEqual(await hookOf(store, 'bg_0'), { attempts: 1, error: 'späť 💥', nextAt: 7 })
    await commit(store, settling('bg_0', { attempts: 2, error: 'gone' }))
    assert.deepEqual(await hookOf(store, 'bg_0'), { attempts: 2, error: 'gone' })
    assert.deepEqual(await owed(store, { owedBy: Number.MAX_SAFE_INTEGER }), [])
    await withOwed(store, 'bg_1')
    await commit(store, settling('bg_1'))
    const record = await store.task(taskId('bg_1'))
    assert.ok(record && !('hook' in record))
    assert.deepEqual(await owed(store, { owedBy: Number.MAX_SAFE_INTEGER }), [])
  }),

  storeCase('does not let a later put of a task change its hook', async (store) => {
    await withOwed(store, 'bg_0')
    const before = await hookOf(store, 'bg_0')
    await commit(store, unit({ tasks: [changed(ended('bg_0'))] }))
    assert.deepEqual(await hookOf(store, 'bg_0'), before)
    await commit(store, settling('bg_0'), unit({ tasks: [changed(ended('bg_0', before && { hook: before }))] }))
    assert.equal(await hookOf(store, 'bg_0'), undefined)
    assert.deepEqual(await owed(store), [])
  }),

  storeCase(
    'changes nothing by the hook of a task that lives, is of another thread, or is not there',
    async (store) => {
      await commit(store, accepting(running('bg_0')))
      await withOwed(store, 'bg_1', { key: away })
      const before = await hookOf(store, 'bg_1')
      await commit(store, settling('bg_0', { attempts: 1, nextAt: 0 }), settling('bg_1'), settling('bg_2'))
      assert.equal(await hookOf(store, 'bg_0'), undefined)
      assert.deepEqual(await hookOf(store, 'bg_1'), before)
      assert.deepEqual(await owed(store), ['bg_1'])
    },
  ),

  storeCase('shows the hook wherever it shows the task', async (store) => {
    await commit(store, accepting(running('bg_0')))
    await withOwed(store, 'bg_1', { parent: { task: taskId('bg_0') } })
    const hook = await hookOf(store, 'bg_1')
    assert.ok(hook)
    const live = await store.livePart(home)
    assert.deepEqual(
      live?.ended.map((record) => record.hook),
      [hook],
    )
    const snapshot = await store.snapshot(home, { messages: 0, endedTasks: 1 })
    assert.deepEqual(snapshot?.tasks.at(-1)?.hook, hook)
  }),

  storeCase('takes no number and raises no revision by a hook', async (store) => {
    await withOwed(store, 'bg_0')
    const before = await store.livePart(home)
    await commit(store, settling('bg_0'))
    assert.equal((await store.livePart(home))?.rev, before?.rev)
    const [next] = await commit(store, unit({ events: [event('custom')] }))
    assert.equal(next?.first, 3)
  }),

  storeCase('counts what is owed, due or not, and owes nothing for a thread that was emptied', async (store) => {
    await withOwed(store, 'bg_0')
    await withOwed(store, 'bg_1', { key: away })
    await commit(store, settling('bg_1', { attempts: 1, nextAt: Number.MAX_SAFE_INTEGER }, away))
    assert.equal(await count(store), 2)
    const rev = (await store.livePart(home))?.rev ?? 0
    await commit(store, unit({ operation: 'erase', rev, erase: true }), settling('bg_0', { attempts: 1, nextAt: 0 }))
    assert.equal(await count(store), 1)
    assert.deepEqual(await owed(store, { owedBy: Number.MAX_SAFE_INTEGER }), ['bg_1'])
  }),
]
