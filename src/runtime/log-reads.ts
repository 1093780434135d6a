import { HoldfastError } from '../core/errors.ts'
import type { EventType } from '../core/event.ts'
import type { Principal, ThreadKey } from '../core/id.ts'
import { isTerminal } from '../core/status.ts'
import type { TaskRecord } from '../core/task.ts'
import type { Store } from '../stores/store.ts'
import type { Feed } from './feed.ts'
import type { LogCursor, LogStart } from './log-cursor.ts'
import type { LogEntry } from './log-entry.ts'
import { checkedAfter, typeSet } from './log-filter.ts'
import { type LogPage, readLogPage } from './log-page.ts'
import { checkedLimit, type Reads } from './reads.ts'
import { Subscription } from './subscription.ts'

/** Which events of which thread, and from which number on. */
export interface SubscribeOptions {
  readonly thread: string
  /** Only this task's events; the subscription ends with its terminal one. */
  readonly task?: string
  /** The number after which to begin; 0, the beginning, unless given. */
  readonly after?: number
  /** Only events of these types; with `task`, its terminal one all the same. */
  readonly types?: readonly EventType[]
}

/** The same as others ask for it, who may know types of events that are not known here. */
export interface LogStartOptions extends Omit<SubscribeOptions, 'types'> {
  readonly types?: readonly string[]
}

export interface LogPageOptions extends Omit<LogStartOptions, 'thread'> {
  /** 1-1000, 100 unless given. */
  readonly limit?: number
}

/** The events of all threads of a principal, from now on. */
export interface EventStream {
  /** The next events, at least one; undefined if there will be none. One call at a time. */
  next(): Promise<readonly LogEntry[] | undefined>
  close(): void
}

export interface LogReadsParts {
  readonly store: Store
  readonly feed: Feed
  readonly reads: Reads
  readonly principal: Principal
}

/** The logs that a principal may read. */
export class LogReads {
  readonly #parts: LogReadsParts

  constructor(parts: LogReadsParts) {
    this.#parts = parts
  }

  /** Rejects with what is wrong before anything is handed out. */
  async open(options: LogStartOptions): Promise<LogCursor> {
    const { feed, reads } = this.#parts
    const asked = checkedStart(options)
    const key = reads.key(options.thread)
    if (options.task === undefined) return feed.open(key, asked)
    const record = await this.#recordIn(key, options.task)
    const cursor = await feed.open(key, { ...asked, task: rangeOf(record) })
    try {
      if (await this.#isOver(record, asked.after)) cursor.close()
      return cursor
    } catch (error) {
      cursor.close()
      throw error
    }
  }

  async page(thread: string, options: LogPageOptions): Promise<LogPage> {
    const { store, reads } = this.#parts
    const asked = checkedStart(options)
    const limit = checkedLimit(options.limit)
    const key = reads.key(thread)
    if (options.task === undefined) return readLogPage(store, key, asked, limit)
    const task = rangeOf(await this.#recordIn(key, options.task))
    return readLogPage(store, key, { ...asked, task }, limit)
  }

  openFirehose(types: readonly string[] | undefined): EventStream {
    return this.#parts.feed.openFirehose(this.#parts.principal, typeSet(types))
  }

  async #recordIn(key: ThreadKey, task: string): Promise<TaskRecord> {
    const record = await this.#parts.reads.record(task)
    if (record?.key === key) return record
    throw new HoldfastError('not_found', `There is no task ${task} in this thread`)
  }

  /** Whether the terminal event is not after the start, so that nothing can follow. */
  async #isOver(record: TaskRecord, after: number): Promise<boolean> {
    if (isTerminal(record.status)) return after >= record.seq
    if (after <= record.seq) return false
    // The start is after what the record told of: the task may have ended in between. Seen live now, after the log was
    // read, its end is after that log's head.
    const now = await this.#parts.reads.record(record.id)
    return !now || (isTerminal(now.status) && after >= now.seq)
  }
}

/** What is wrong with the options alone is told at once. */
export function subscribe(options: SubscribeOptions, logs: () => Promise<LogReads>): Subscription {
  checkedStart(options)
  return new Subscription(async () => (await logs()).open(options))
}

function checkedStart(options: Omit<LogStartOptions, 'thread'>): LogStart {
  const types = typeSet(options.types)
  return { after: checkedAfter(options.after), ...(types && { types }) }
}

function rangeOf(record: TaskRecord): NonNullable<LogStart['task']> {
  const last = isTerminal(record.status) ? record.seq : Number.MAX_SAFE_INTEGER
  return { id: record.id, first: record.firstSeq, last }
}
