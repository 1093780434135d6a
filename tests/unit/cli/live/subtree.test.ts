import { expect, it } from 'vitest'
import { Subtree } from '../../../../src/cli/live/subtree.ts'
import type { Task } from '../../../../src/client/index.ts'
import { event } from './events.ts'

const root = { id: 'bg_0', name: 'root' } as unknown as Task
const accepted = (seq: number, task: object) => event(seq, 'task.accepted', { task }, (task as { id: string }).id)

it('a tree is what was spawned under its root, at any depth', () => {
  const tree = new Subtree(root)
  expect(tree.takes(accepted(1, { id: 'bg_1', name: 'kid', parent: { task: 'bg_0' } }))).toBe(true)
  expect(tree.takes(accepted(2, { id: 'bg_2', parent: { task: 'bg_1' } }))).toBe(true)
  expect(tree.takes(accepted(3, { id: 'bg_3', parent: { task: 'bg_9' } }))).toBe(false)
  expect(tree.takes(event(4, 'custom', {}, 'bg_2'))).toBe(true)
  expect(tree.takes(event(5, 'custom', {}, 'bg_3'))).toBe(false)
  expect(['bg_0', 'bg_1', 'bg_2'].map((id) => tree.nameOf(id))).toEqual(['root', 'kid', 'bg_2'])
})

it('a tree is over when its root has ended and all that ends with it, whatever is detached', () => {
  const tree = new Subtree(root)
  tree.takes(accepted(1, { id: 'bg_1', parent: { task: 'bg_0' } }))
  tree.takes(accepted(2, { id: 'bg_2', parent: { task: 'bg_0' }, detached: true }))
  tree.takes(accepted(3, { id: 'bg_3', parent: { task: 'bg_2' } }))
  tree.takes(event(4, 'task.completed', {}, 'bg_0'))
  expect(tree.isOver).toBe(false)
  tree.takes(event(5, 'task.cancelled', {}, 'bg_1'))
  expect(tree.isOver).toBe(true)
})

it('a tree goes on from a snapshot: with what was spawned meanwhile, without what has ended or is gone', () => {
  const tree = new Subtree(root)
  tree.takes(accepted(1, { id: 'bg_1', parent: { task: 'bg_0' } }))
  const tasks = [
    { id: 'bg_3', parent: { task: 'bg_2' }, status: 'running', createdAt: 3 },
    { id: 'bg_2', parent: { task: 'bg_0' }, status: 'completed', createdAt: 2 },
    { id: 'bg_0', status: 'running', createdAt: 1 },
    { id: 'bg_9', status: 'running', createdAt: 1 },
  ]
  tree.sees(tasks as unknown as Task[])
  expect(tree.takes(event(9, 'custom', {}, 'bg_3'))).toBe(true)
  expect(tree.takes(event(10, 'custom', {}, 'bg_9'))).toBe(false)
  tree.takes(event(11, 'task.completed', {}, 'bg_0'))
  expect(tree.isOver).toBe(false)
  tree.takes(event(12, 'task.completed', {}, 'bg_3'))
  expect(tree.isOver).toBe(true)
})
