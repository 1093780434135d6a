import type { EventData } from '../core/event.ts'
import type { TaskId } from '../core/id.ts'
import type { Inbox } from '../core/inbox.ts'
import { customItem, endItem, type InboxItem } from '../core/inbox-item.ts'
import type { TaskRecord } from '../core/task.ts'
import type { Logger } from './logger.ts'

/** The owner inboxes of this process: one for all tasks, or one that a task was spawned with. */
export class Owners {
  readonly #own = new Map<TaskId, Inbox>()
  #common: Inbox | undefined
  readonly #log: Logger

  constructor(common: Inbox | undefined, log: Logger) {
    this.#common = common
    this.#log = log
  }

  set common(inbox: Inbox | undefined) {
    this.#common = inbox
  }

  keep(task: TaskId, inbox: Inbox): void {
    this.#own.set(task, inbox)
  }

  drop(task: TaskId): void {
    this.#own.delete(task)
  }

  /** Tasks whose own inbox has not heard of their end. */
  waiting(): Iterable<TaskId> {
    return this.#own.keys()
  }

  isWaiting(task: TaskId): boolean {
    return this.#own.has(task)
  }

  of(task: TaskId): Inbox | undefined {
    return this.#own.get(task) ?? this.#common
  }

  /** A task emitted something of its own. */
  tellCustom(task: TaskId, data: string): void {
    const owner = this.of(task)
    if (!owner) return
    const { name, payload } = JSON.parse(data) as EventData['custom']
    this.#tell(owner, customItem(task, name, payload))
  }

  /** A task has ended: the last thing its owner hears of it. */
  tellEnd(record: TaskRecord): void {
    const owner = this.of(record.id)
    if (owner) this.#tell(owner, endItem(record))
    this.drop(record.id)
  }

  /** Somebody's own inbox may throw, and whoever tells it has more to do than that. */
  #tell(owner: Inbox, item: InboxItem): void {
    try {
      owner.send(item)
    } catch (error) {
      this.#log.warn({ err: error, task: item.taskId }, 'an owner inbox threw')
    }
  }
}
