import { isHoldfastError } from '../../core/errors.ts'
import type { Task } from '../../core/task.ts'
import type { ThreadEvent } from '../thread-event.ts'
import { type Following, LiveModel, type Loadable } from './live-model.ts'
import type { LiveParts } from './live-parts.ts'
import {
  afterEvent,
  isToBeRead,
  newest,
  noRows,
  readRows,
  type TaskFilter,
  type TaskRows,
  withOlder,
  withTask,
} from './task-rows.ts'
import { whileWatching } from './while-watching.ts'

export interface TaskListValue extends Loadable {
  /** Newest first. `position` is left out: the queue of a thread has it. */
  readonly tasks: readonly Task[]
  /** Whether there are older ones. */
  readonly hasMore: boolean
}

export const loadingTasks: TaskListValue = { tasks: [], hasMore: false, isLoading: true }

// The most that the server gives in one page.
const pageCountMax = 1000
// What a list that nobody asked more of may grow to by itself.
const grownCountMax = 1000
// What may happen while a page is on its way; if it is more, the page is read again.
const heldCountMax = 10_000

/**
 * A list of tasks as the server has it, in place: by pages, and by what happens from then on.
 *
 * T1 What happens while a page is read is folded again after it, because the page may be older.
 * T2 It keeps as many rows as were asked for, or `grownCountMax`; what goes beyond that leaves at the old end.
 */
export class TaskList {
  readonly live: LiveModel<TaskListValue>
  readonly #parts: LiveParts
  readonly #filter: TaskFilter
  #rows: TaskRows = noRows
  /** Of the page after the last row. Without one, though there is more, that page has to be found from the newest on. */
  #cursor: string | undefined
  #askedCount: number
  #held: ThreadEvent[] = []
  #reading: Promise<void> | undefined
  #more: Promise<void> | undefined
  /** Tasks that are being read; true if more was heard of one meanwhile. */
  readonly #fetched = new Map<string, boolean>()
  #following: Following<TaskListValue> | undefined

  constructor(parts: LiveParts, filter: TaskFilter, onStopped: () => void) {
    this.#parts = parts
    this.#askedCount = parts.pageCount
    this.#filter = filter
    this.live = new LiveModel({
      ...parts,
      initial: loadingTasks,
      follow: (following) => this.#follow(following),
      onStopped,
    })
  }

  /** Resolves when the next page is there, or cannot be read. A second call while it is on its way waits for the same. */
  loadMore(): Promise<void> {
    const following = this.#following
    if (!following || following.signal.aborted || !this.#rows.end) return Promise.resolve()
    this.#more ??= this.#read(following, () => {
      this.#askedCount = this.#rows.shown.length + this.#parts.pageCount
      return this.#cursor === undefined ? this.#readAll(following) : this.#readOn(following)
    }).finally(() => {
      this.#more = undefined
    })
    return this.#more
  }

  #follow(following: Following<TaskListValue>): Promise<void> {
    this.#following = following
    this.#reading = undefined
    this.#fetched.clear()
    return whileWatching(this.#parts.watch, following.signal, {
      opened: () => void this.#read(following, () => this.#readAll(following)),
      event: (event) => this.#take(following, event),
    })
  }

  /** Reads after whatever is being read. What goes wrong is told by the value. */
  async #read(following: Following<TaskListValue>, read: () => Promise<TaskRows>): Promise<void> {
    const reading = this.#readAfter(this.#reading, following, read)
    this.#reading = reading
    await reading
    if (this.#reading === reading) this.#reading = undefined
  }

  async #readAfter(
    before: Promise<void> | undefined,
    following: Following<TaskListValue>,
    read: () => Promise<TaskRows>,
  ): Promise<void> {
    await before
    this.#held = []
    try {
      const rows = await read()
      if (following.signal.aborted) return
      this.#rows = rows
      const held = this.#held.splice(0)
      if (held.length > heldCountMax) return await this.#readAfter(undefined, following, () => this.#readAll(following))
      for (const event of held) this.#fold(following, event)
      this.#publish(following)
    } catch (error) {
      following.fail(error)
    }
  }

  async #readAll({ signal }: Following<TaskListValue>): Promise<TaskRows> {
    const tasks: Task[] = []
    let cursor: string | undefined
    do {
      const limit = Math.min(pageCountMax, this.#askedCount - tasks.length)
      const page = await this.#page(limit, cursor, signal)
      tasks.push(...page.tasks)
      cursor = page.cursor
    } while (cursor !== undefined && tasks.length < this.#askedCount)
    this.#cursor = cursor
    return readRows(tasks, cursor !== undefined)
  }

  async #readOn({ signal }: Following<TaskListValue>): Promise<TaskRows> {
    const page = await this.#page(this.#parts.pageCount, this.#cursor, signal)
    this.#cursor = page.cursor
    return withOlder(this.#rows, page.tasks, page.cursor !== undefined)
  }

  #page(limit: number, cursor: string | undefined, signal: AbortSignal) {
    const { roots, ...filter } = this.#filter
    const query = Object.fromEntries(Object.entries(filter).filter(([, value]) => value !== undefined))
    const asked = { ...query, ...(roots && { roots }), ...(cursor !== undefined && { cursor }) }
    return this.#parts.client.list({ ...asked, limit, signal })
  }

  #take(following: Following<TaskListValue>, event: ThreadEvent): void {
    if (this.#reading && this.#held.length <= heldCountMax) this.#held.push(event)
    this.#fold(following, event)
  }

  #fold(following: Following<TaskListValue>, event: ThreadEvent): void {
    const { task } = event
    if (task !== undefined && this.#fetched.has(task)) this.#fetched.set(task, true)
    else if (task !== undefined && isToBeRead(this.#rows, event, this.#filter)) void this.#fetch(following, task)
    this.#change(following, afterEvent(this.#rows, event, this.#filter))
  }

  async #fetch(following: Following<TaskListValue>, id: string): Promise<void> {
    const { signal } = following
    try {
      do {
        this.#fetched.set(id, false)
        const task = await this.#parts.client.get(id, { signal })
        if (signal.aborted) return
        this.#change(following, withTask(this.#rows, task, this.#filter))
      } while (this.#fetched.get(id))
    } catch (error) {
      // It was deleted meanwhile. Anything else is told by the next reading as well.
      if (!signal.aborted && !isHoldfastError(error)) throw error
    } finally {
      if (!signal.aborted) this.#fetched.delete(id)
    }
  }

  #change(following: Following<TaskListValue>, rows: TaskRows): void {
    if (rows === this.#rows) return
    const kept = newest(rows, Math.max(this.#askedCount, grownCountMax))
    if (kept !== rows) this.#cursor = undefined
    this.#rows = kept
    if (!following.value.isLoading) this.#publish(following)
  }

  #publish(following: Following<TaskListValue>): void {
    const { shown, end } = this.#rows
    following.set({ tasks: shown, hasMore: end !== undefined, isLoading: false })
  }
}
