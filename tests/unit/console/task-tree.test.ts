import { describe, expect, it } from 'vitest'
import { failingLeaf, growTree, linesOf, treeOf } from '../../../console/src/views/task/task-tree.ts'
import { timeScale } from '../../../console/src/views/task/time-scale.ts'
import type { Task, ThreadEvent } from '../../../src/client/index.ts'

function task(number: number, parent?: number, more: object = {}): Task {
  const above = parent === undefined ? {} : { parent: { task: `bg_${parent}` } }
  const base = {
    id: `bg_${number}`,
    thread: 't',
    seq: number + 1,
    type: 'agent',
    status: 'completed',
    attempt: 1,
    epoch: 1,
  }
  return { ...base, description: `${number}`, createdAt: 1000 + number, ...above, ...more } as unknown as Task
}

const ids = (tasks: readonly Task[]) => tasks.map(({ id }) => id)

describe('the tree of a task', () => {
  const all = [task(10, 1), task(4), task(3, 1), task(2, 0), task(1, 0), task(0)]

  it('is found from anywhere in it, in the order of spawning, without others of the thread', () => {
    const tree = treeOf(task(3, 1), all)
    expect(ids(tree.path)).toEqual(['bg_0', 'bg_1', 'bg_3'])
    expect(linesOf(tree.root, tree).map((line) => [line.task.id, line.depth])).toEqual([
      ['bg_0', 0],
      ['bg_1', 1],
      ['bg_3', 2],
      ['bg_10', 2],
      ['bg_2', 1],
    ])
  })

  it('grows by the events of a log, though only its root was known', () => {
    const accepted = (one: Task) =>
      ({ thread: 't', seq: one.seq, task: one.id, type: 'task.accepted', at: 1, data: { task: one } }) as ThreadEvent
    const known = new Set(['bg_0'])
    for (const one of all.toReversed()) growTree(known, accepted(one))
    expect([...known]).toEqual(['bg_0', 'bg_1', 'bg_2', 'bg_3', 'bg_10'])
  })

  it('is not whole while what is above is not read', () => {
    expect(treeOf(task(3, 1), [task(10, 1), task(3, 1)])).toMatchObject({ isWhole: false, root: { id: 'bg_3' } })
    expect(treeOf(task(3, 1), all).isWhole).toBe(true)
  })

  it('takes what was found in another way, and holds the newer of two copies', () => {
    const tree = treeOf(task(3, 1), [task(10, 1)], [task(0), task(1, 0), task(10, 1, { seq: 1 })])
    expect(ids(tree.path)).toEqual(['bg_0', 'bg_1', 'bg_3'])
    expect(tree.isWhole).toBe(true)
    expect(tree.childrenOf.get('bg_1')).toEqual([task(3, 1), task(10, 1)])
  })

  it('holds the newer of two copies of the task', () => {
    const newer = task(0, undefined, { seq: 99, status: 'failed' })
    expect(treeOf(task(0), [newer]).root.status).toBe('failed')
    expect(treeOf(newer, [task(0)]).root.status).toBe('failed')
  })

  it('failed in the lowest task below the child that failed last', () => {
    const failed = (number: number, parent: number | undefined, completedAt: number) =>
      task(number, parent, { status: 'failed', completedAt })
    const root = failed(0, undefined, 9)
    const tasks = [failed(4, 2, 6), failed(3, 1, 3), failed(2, 0, 7), failed(1, 0, 4), root]
    expect(failingLeaf(root, treeOf(root, tasks)).id).toBe('bg_4')
    const alone = failed(0, undefined, 9)
    expect(failingLeaf(alone, treeOf(alone, [alone, task(1, 0)])).id).toBe('bg_0')
  })
})

describe('the scale of a timeline', () => {
  it.each([
    [170_000, 4, ['0', '1 m', '2 m']],
    [170_000, 6, ['0', '30 s', '1 m', '1 m 30 s', '2 m', '2 m 30 s']],
    [70_000, 5, ['0', '15 s', '30 s', '45 s', '1 m']],
    [3_600_000, 4, ['0', '15 m', '30 m', '45 m', '1 h']],
    [400, 4, ['0', '100 ms', '200 ms', '300 ms', '400 ms']],
  ])('has ticks as one counts time, of %d ms at most %d', (completedAt, countMax, texts) => {
    const line = { task: task(0, undefined, { createdAt: 0, startedAt: 0, completedAt }), depth: 0 }
    expect(timeScale([line], completedAt, countMax).ticks.map(({ text }) => text)).toEqual(texts)
  })

  it('reaches from the first acceptance to the last end, with few round ticks', () => {
    const line = { task: task(0, undefined, { createdAt: 0, startedAt: 1000, completedAt: 12_000 }), depth: 0 }
    const scale = timeScale([line], 99_000, 7)
    expect([scale.place(0), scale.place(6000), scale.place(12_000)]).toEqual([0, 50, 100])
    expect(scale.ticks.map(({ text }) => text)).toEqual(['0', '2 s', '4 s', '6 s', '8 s', '10 s', '12 s'])
  })

  it('reaches to now while anything is live, and stands for nothing as well', () => {
    const live = { task: task(0, undefined, { createdAt: 0, status: 'running' }), depth: 0 }
    expect(timeScale([live], 500, 7).to).toBe(500)
    expect(timeScale([{ task: task(0, undefined, { createdAt: 7, completedAt: 7 }), depth: 0 }], 9, 7).place(7)).toBe(0)
  })
})
