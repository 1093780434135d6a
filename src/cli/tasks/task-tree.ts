import type { Task } from '../../client/index.ts'

/** A task with what was spawned under it. */
export interface TaskNode {
  readonly task: Task
  readonly children: readonly TaskNode[]
}

/** A task with the lines that lead to it, and the branch at which it hangs. */
export interface Branch {
  readonly task: Task
  readonly lines: string
}

/** Hangs each task under its parent, if that is among them; in the order given, children in the order they were spawned. */
export function treesOf(tasks: readonly Task[]): readonly TaskNode[] {
  const ids = new Set<string>(tasks.map(({ id }) => id))
  const parentOf = ({ parent }: Task): string => (parent?.task !== undefined && ids.has(parent.task) ? parent.task : '')
  const byParent = Map.groupBy(tasks, parentOf)
  const node = (task: Task): TaskNode => ({ task, children: inOrder(byParent.get(task.id) ?? []).map(node) })
  return (byParent.get('') ?? []).map(node)
}

/** One branch for each task, from the top down, with lines drawn as `tree` does. */
export function branchesOf(nodes: readonly TaskNode[]): readonly Branch[] {
  return nodes.flatMap(({ task, children }) => [{ task, lines: '' }, ...below(children, '')])
}

function below(nodes: readonly TaskNode[], indent: string): readonly Branch[] {
  return nodes.flatMap(({ task, children }, index) => {
    const isLast = index === nodes.length - 1
    const here = { task, lines: `${indent}${isLast ? '└─ ' : '├─ '}` }
    return [here, ...below(children, `${indent}${isLast ? '   ' : '│  '}`)]
  })
}

function inOrder(tasks: readonly Task[]): readonly Task[] {
  return tasks.toSorted((one, other) => one.createdAt - other.createdAt || compare(one.id, other.id))
}

/** Ids of one commit differ by their number: bg_9 comes before bg_10. */
function compare(one: string, other: string): number {
  return one.localeCompare(other, 'en', { numeric: true })
}

/** The same for programs: each task with its children in it. */
export function nested({ task, children }: TaskNode): object {
  return { ...task, children: children.map(nested) }
}
