import { describe, expect, it } from 'vitest'
import { branchesOf, nested, treesOf } from '../../../../src/cli/tasks/task-tree.ts'
import type { Task } from '../../../../src/client/index.ts'

function task(id: string, parent?: string): Task {
  return { id, createdAt: 0, ...(parent !== undefined && { parent: { task: parent } }) } as unknown as Task
}

describe('the trees of tasks', () => {
  const tasks = [task('bg_10', 'bg_1'), task('bg_9', 'bg_1'), task('bg_3', 'bg_2'), task('bg_2', 'bg_1'), task('bg_1')]

  it('are drawn from the root down, children in the order they were spawned', () => {
    expect(branchesOf(treesOf(tasks)).map(({ task: { id }, lines }) => `${lines}${id}`)).toEqual([
      'bg_1',
      '├─ bg_2',
      '│  └─ bg_3',
      '├─ bg_9',
      '└─ bg_10',
    ])
  })

  it('begin with every task whose parent is not among them, in the order given', () => {
    const roots = treesOf([task('bg_7', 'bg_1'), task('bg_6'), task('bg_5', 'bg_6')])
    expect(roots.map((root) => root.task.id)).toEqual(['bg_7', 'bg_6'])
  })

  it('are nested for programs', () => {
    expect(treesOf([task('bg_1'), task('bg_2', 'bg_1')]).map(nested)).toMatchObject([
      { id: 'bg_1', children: [{ id: 'bg_2', children: [] }] },
    ])
  })
})
