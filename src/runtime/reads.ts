import { HoldfastError, isHoldfastError } from '../core/errors.ts'
import { byteLength } from '../core/fits-in.ts'
import { type Principal, principalOf, type TaskId, type ThreadKey, taskId, threadId, threadKey } from '../core/id.ts'
import type { Message } from '../core/message.ts'
import { assistantParts } from '../core/parts.ts'
import { isQueued, positionsOf } from '../core/position.ts'
import { toQuestion } from '../core/question.ts'
import { type Result, toResult } from '../core/result.ts'
import type { Status } from '../core/status.ts'
import { isRun, type Task, type TaskRecord, toTask } from '../core/task.ts'
import type { ThreadSnapshot } from '../core/thread-snapshot.ts'
import type { MessagePage, MessageQuery, Store, TaskPage, ThreadPage } from '../stores/store.ts'
import type { LiveOutputs } from './live-outputs.ts'

/** Which tasks to list; all of the principal unless something is given. */
export interface ListOptions {
  readonly thread?: string
  readonly status?: Status | readonly Status[]
  readonly type?: string
  readonly name?: string
  readonly parent?: string
  /** Only tasks that no task spawned. */
  readonly roots?: boolean
  readonly cursor?: string
  /** 1-1000, 100 unless given. */
  readonly limit?: number
}

/** A page of tasks, newest first. With a `cursor` there are more: ask again with it. */
export interface TaskList {
  readonly tasks: readonly Task[]
  readonly cursor?: string
}

/** Which part of a conversation. */
export interface MessageOptions {
  readonly after?: number
  /** 1-1000, 100 unless given. */
  readonly limit?: number
}

export interface ReadsParts {
  readonly store: Store
  readonly principal: Principal
  readonly outputs: LiveOutputs
  watchersOf(key: ThreadKey): number
}

const pageMax = 1000
const pageDefault = 100
// What an answer shows of inputs and results, and of messages: the largest that there is by default, and another, in one piece of
// text that is sent at once. A hundred of the largest are more than a string holds.
const shownBytesMax = 16 * 1024 * 1024

/** What a principal may read: its own threads and what is in them. */
export class Reads {
  readonly #parts: ReadsParts

  constructor(parts: ReadsParts) {
    this.#parts = parts
  }

  key(thread: string): ThreadKey {
    return threadKey(this.#parts.principal, threadId(thread))
  }

  /** Another principal's task is as one that does not exist. */
  async record(id: string): Promise<TaskRecord | undefined> {
    if (typeof id !== 'string') return undefined
    const record = await this.#parts.store.task(taskId(id))
    return record && principalOf(record.key) === this.#parts.principal ? record : undefined
  }

  async task(id: string): Promise<Task | undefined> {
    const record = await this.record(id)
    if (!record) return undefined
    const positions = isQueued(record) ? await this.#positions(record.key) : undefined
    return toTask(record, positions?.get(record.id))
  }

  async tasks(options: ListOptions): Promise<TaskList> {
    const page = await this.#page(options)
    const threads = new Set(page.tasks.filter(isQueued).map((record) => record.key))
    const positions = new Map<TaskId, number>()
    for (const key of threads) for (const [id, position] of await this.#positions(key)) positions.set(id, position)
    const tasks = page.tasks.map((record) => toTask(record, positions.get(record.id)))
    return { tasks, ...(page.cursor !== undefined && { cursor: page.cursor }) }
  }

  threads(options: { readonly cursor?: string; readonly limit?: number }): Promise<ThreadPage> {
    const { principal, store } = this.#parts
    return store.threads({ principal, limit: checkedLimit(options.limit), ...cursorOf(options) })
  }

  async results(thread: string): Promise<{ results: Result[]; running: number }> {
    const { store, principal } = this.#parts
    // Read first: a task that ends meanwhile is still counted, and a result as well, but never neither.
    const live = await store.livePart(this.key(thread))
    const results: Result[] = []
    let bytesLeft = shownBytesMax
    for (let cursor: string | undefined; ; ) {
      const query = { thread: threadId(thread), untaken: true, resultBytesMax: bytesLeft, limit: pageMax }
      const page = await store.tasks({ principal, ...query, ...cursorOf({ cursor }) })
      results.push(...page.tasks.map(toResult))
      for (const { result = '', resultOmitted } of page.tasks) {
        bytesLeft = resultOmitted ? 0 : Math.max(0, bytesLeft - byteLength(result))
      }
      cursor = page.cursor
      if (cursor === undefined) break
    }
    return { results, running: live?.tasks.filter((record) => !isRun(record)).length ?? 0 }
  }

  async hasRunning(thread: string): Promise<boolean> {
    const live = await this.#parts.store.livePart(this.key(thread))
    return live !== undefined && live.tasks.length > 0
  }

  /** The whole of the conversation, or what follows a number. */
  async messages(thread: string, options: MessageOptions): Promise<Message[]> {
    return [...(await this.#messages(thread, options)).messages]
  }

  messagePage(thread: string, options: MessageOptions): Promise<MessagePage> {
    return this.#messages(thread, options, { bytesMax: shownBytesMax })
  }

  #messages(thread: string, { after, limit }: MessageOptions, within: Pick<MessageQuery, 'bytesMax'> = {}) {
    const query = { after: checkedAfter(after), limit: checkedLimit(limit), ...within }
    return this.#parts.store.messages(this.key(thread), query)
  }

  async snapshot(thread: string): Promise<ThreadSnapshot> {
    for (;;) {
      try {
        return await this.#snapshot(thread)
      } catch (error) {
        // A task that was running has ended meanwhile, and what it had put out is no longer kept: there is a newer picture.
        if (!isHoldfastError(error, 'offset_gone')) throw error
      }
    }
  }

  async #snapshot(thread: string): Promise<ThreadSnapshot> {
    const key = this.key(thread)
    const watchers = this.#parts.watchersOf(key)
    const found = await this.#parts.store.snapshot(key, { messages: 100, endedTasks: 100, bytesMax: shownBytesMax })
    const empty = { head: 0, first: 1, messages: [], tasks: [], questions: [] }
    const { head, first, messages, tasks, questions } = found ?? empty
    const queue = positionsOf(tasks)
    const live = await this.#live(tasks, head)
    return {
      thread: threadId(thread),
      head,
      first,
      watchers,
      messages,
      tasks: tasks.map((record) => toTask(record, queue.get(record.id))),
      live,
      questions: questions.map(toQuestion),
    }
  }

  async #live(tasks: readonly TaskRecord[], head: number): Promise<ThreadSnapshot['live']> {
    const running = tasks.filter((record) => record.status === 'running')
    const outputs = await Promise.all(
      running.map(async (record) => ({
        task: record.id,
        parts: assistantParts(await this.#parts.outputs.at(record, head)),
      })),
    )
    return outputs.filter(({ parts }) => parts.length > 0)
  }

  #page(options: ListOptions): Promise<TaskPage> {
    const { store, principal } = this.#parts
    const { status, type, name, parent, roots, thread, cursor } = options
    const texts = [type, name, parent, cursor].filter((text) => text !== undefined)
    if (texts.some((text) => typeof text !== 'string')) throw invalid('What a list is narrowed by are strings')
    return store.tasks({
      principal,
      ...(thread !== undefined && { thread: threadId(thread) }),
      ...(status !== undefined && { status: typeof status === 'string' ? [status] : status }),
      ...(type !== undefined && { type: [type] }),
      ...(name !== undefined && { name }),
      ...(parent !== undefined && { parent: taskId(parent) }),
      ...(roots && { roots: true }),
      bytesMax: shownBytesMax,
      ...cursorOf(options),
      limit: checkedLimit(options.limit),
    })
  }

  async #positions(key: ThreadKey): Promise<ReadonlyMap<TaskId, number>> {
    const live = await this.#parts.store.livePart(key)
    return positionsOf(live?.tasks ?? [])
  }
}

function invalid(message: string): HoldfastError {
  return new HoldfastError('invalid_request', message)
}

function cursorOf({ cursor }: { readonly cursor?: string | undefined }): { cursor?: string } {
  return cursor === undefined ? {} : { cursor }
}

function checkedAfter(after = 0): number {
  if (Number.isSafeInteger(after)) return after
  throw invalid('after is a whole number')
}

export function checkedLimit(limit = pageDefault): number {
  if (Number.isInteger(limit) && limit >= 1 && limit <= pageMax) return limit
  throw invalid(`A limit is a whole number from 1 to ${pageMax}`)
}
