import { isHoldfastError } from '../../core/errors.ts'
import type { Task } from '../../core/task.ts'
import { isPassing } from '../failure.ts'
import type { ThreadEvent } from '../thread-event.ts'
import type { LiveError } from './live-error.ts'
import { type Following, LiveModel, type Loadable } from './live-model.ts'
import type { LiveParts } from './live-parts.ts'
import { Reading } from './reading.ts'
import {
  afterEvent,
  isOfFilter,
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
// How many tasks are asked for one by one. If there are more to know of, the list is read again.
const fetchedCountMax = 10
const foreignCountMax = 10_000

/**
 * A list of tasks as the server has it, in place: by pages, and by what happens from then on.
 *
 * T1 What happens while a page is read is folded again after it, because the page may be older.
 * T2 While it is read nothing is asked for besides, because what happens meanwhile is looked at once more.
 * T3 It keeps as many rows as were asked for, or `grownCountMax`; what goes beyond that leaves at the old end.
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
  readonly #whole: Reading
  #reading: Promise<void> | undefined
  #more: Promise<void> | undefined
  /** Tasks that are being read; true if more was heard of one meanwhile. */
  readonly #fetched = new Map<string, boolean>()
  /** Tasks that never match, whatever their status; the one that was heard of first is forgotten first. */
  readonly #foreign = new Set<string>()
  /** Whether the list is to be read again, and is not being read yet. */
  #isOutdated = false
  #following: Following<TaskListValue> | undefined

  constructor(parts: LiveParts, filter: TaskFilter, onStopped: () => void) {
    this.#parts = parts
    this.#whole = new Reading(parts)
    this.#askedCount = parts.pageCount
    this.#filter = filter
    this.live = new LiveModel({
      ...parts,
      initial: loadingTasks,
      follow: (following) => this.#follow(following),
      onStopped,
    })
  }

  /** Resolves when the next page, or why it cannot be read, is published. A second call while it is on its way waits for the same. */
  loadMore(): Promise<void> {
    const following = this.#following
    if (!following || following.signal.aborted || !this.#rows.end) return Promise.resolve()
    this.#more ??= this.#read(following, () => {
      this.#askedCount = this.#rows.shown.length + this.#parts.pageCount
      return this.#cursor === undefined ? this.#readAll(following) : this.#readOn(following)
    })
      .catch((error: unknown) => following.fail(error))
      .then(() => new Promise<void>(this.#parts.schedule))
      .finally(() => {
        this.#more = undefined
      })
    return this.#more
  }

  #follow(following: Following<TaskListValue>): Promise<void> {
    this.#following = following
    this.#reading = undefined
    this.#fetched.clear()
    this.#isOutdated = false
    return whileWatching(this.#parts.watch, following.signal, {
      opened: () => void this.#readAgain(following),
      event: (event) => this.#take(following, event),
    })
  }

  async #readAgain(following: Following<TaskListValue>): Promise<void> {
    if (this.#isOutdated) return
    this.#isOutdated = true
    await this.#whole.run(following, () =>
      this.#read(following, () => {
        this.#isOutdated = false
        return this.#readAll(following)
      }),
    )
  }

  /** Reads after whatever is being read. */
  async #read(following: Following<TaskListValue>, read: () => Promise<TaskRows>): Promise<void> {
    const reading = this.#readAfter(this.#reading, following, read)
    const settled = reading.catch(() => {})
    this.#reading = settled
    try {
      await reading
    } finally {
      if (this.#reading === settled) this.#reading = undefined
    }
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
    } catch (error) {
      if (!following.signal.aborted) this.#foldHeld(following)
      throw error
    }
    this.#foldHeld(following)
    this.#publish(following)
  }

  #foldHeld(following: Following<TaskListValue>): void {
    const held = this.#held.splice(0)
    if (held.length > heldCountMax) return void this.#readAgain(following)
    for (const event of held) {
      this.#fold(following, event)
      this.#find(following, event)
    }
  }

  /** Reads from the newest on, until there are as many as were asked for, or a page brings nothing new. */
  async #readAll({ signal }: Following<TaskListValue>): Promise<TaskRows> {
    const tasks = new Map<string, Task>()
    let cursor: string | undefined
    let before: number
    do {
      before = tasks.size
      const limit = Math.min(pageCountMax, this.#askedCount - before)
      const page = await this.#page(limit, cursor, signal)
      for (const task of page.tasks) tasks.set(task.id, task)
      cursor = page.cursor
    } while (cursor !== undefined && tasks.size > before && tasks.size < this.#askedCount)
    this.#cursor = cursor
    return readRows([...tasks.values()], cursor !== undefined)
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
    if (event.task !== undefined && this.#fetched.has(event.task)) this.#fetched.set(event.task, true)
    if (!this.#reading) this.#find(following, event)
    else if (this.#held.length <= heldCountMax) this.#held.push(event)
    this.#fold(following, event)
  }

  #fold(following: Following<TaskListValue>, event: ThreadEvent): void {
    if (event.type === 'task.accepted') this.#note(event.data.task)
    this.#change(following, afterEvent(this.#rows, event, this.#filter))
  }

  /** Asks for the task if only that tells whether it has begun to match. */
  #find(following: Following<TaskListValue>, event: ThreadEvent): void {
    const { task } = event
    if (task === undefined || this.#fetched.has(task) || this.#foreign.has(task)) return
    if (!isToBeRead(this.#rows, event, this.#filter)) return
    if (this.#fetched.size < fetchedCountMax) void this.#fetch(following, task)
    else void this.#readAgain(following)
  }

  #note(task: Task): void {
    if (isOfFilter(task, this.#filter)) return
    this.#foreign.add(task.id)
    const [oldest] = this.#foreign
    if (this.#foreign.size > foreignCountMax && oldest !== undefined) this.#foreign.delete(oldest)
  }

  async #fetch(following: Following<TaskListValue>, id: string): Promise<void> {
    const { signal } = following
    try {
      do {
        this.#fetched.set(id, false)
        const task = await this.#parts.client.get(id, { signal })
        if (signal.aborted) return
        this.#note(task)
        this.#change(following, withTask(this.#rows, task, this.#filter))
      } while (this.#fetched.get(id))
    } catch (error) {
      if (signal.aborted) return
      if (!isHoldfastError(error)) throw error
      // If it does not pass the task was deleted meanwhile.
      if (isPassing(error)) void this.#readAgain(following)
    } finally {
      if (!signal.aborted) this.#fetched.delete(id)
    }
  }

  #change(following: Following<TaskListValue>, rows: TaskRows): void {
    if (rows === this.#rows) return
    const kept = newest(rows, Math.max(this.#askedCount, grownCountMax))
    if (kept !== rows) this.#cursor = undefined
    this.#rows = kept
    if (!following.value.isLoading) this.#publish(following, following.value.error)
  }

  #publish(following: Following<TaskListValue>, error?: LiveError): void {
    const { shown, end } = this.#rows
    following.set({ tasks: shown, hasMore: end !== undefined, isLoading: false, ...(error && { error }) })
  }
}
