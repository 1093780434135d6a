import { isTerminal, type Task, type ThreadEvent } from '../../client/index.ts'

interface Member {
  readonly name: string
  /** Whether it ends with the root: neither it nor what it was spawned under is detached. */
  readonly isAttached: boolean
}

const ends: readonly string[] = ['task.completed', 'task.failed', 'task.cancelled']

/** A task and what was spawned under it, learned from the log since the root was accepted. */
export class Subtree {
  readonly #members: Map<string, Member>
  readonly #live: Set<string>

  constructor({ id, name }: Pick<Task, 'id' | 'name'>) {
    this.#members = new Map([[id, { name: name ?? id, isAttached: true }]])
    // Also one that has ended, since its end is still to come in the log.
    this.#live = new Set([id])
  }

  /** Whether the event is of this tree. */
  takes(event: ThreadEvent): boolean {
    const { task = '' } = event
    if (event.type === 'task.accepted') this.#join(event.data.task)
    if (ends.includes(event.type)) this.#live.delete(task)
    return this.#members.has(task)
  }

  /** Takes over what a snapshot shows: what came before it may never be in the log. */
  sees(tasks: readonly Task[]): void {
    for (const task of tasks.toSorted((one, other) => one.createdAt - other.createdAt)) this.#join(task)
    const live: readonly string[] = tasks.filter(({ status }) => !isTerminal(status)).map(({ id }) => id)
    for (const id of this.#live) if (!live.includes(id)) this.#live.delete(id)
  }

  nameOf(task: string): string {
    return this.#members.get(task)?.name ?? task
  }

  /** Whether the root has ended, and with it all that ends with it. What is detached goes on alone. */
  get isOver(): boolean {
    return this.#live.size === 0
  }

  #join({ id, name, parent, detached }: Task): void {
    const above = this.#members.get(parent?.task ?? '')
    if (!above || this.#members.has(id)) return
    const isAttached = above.isAttached && detached !== true
    this.#members.set(id, { name: name ?? id, isAttached })
    if (isAttached) this.#live.add(id)
  }
}
