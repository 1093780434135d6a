import { HoldfastError } from '../core/errors.ts'
import type { Event } from '../core/event.ts'
import { principal as checkedPrincipal, type Principal, principalOf, type TaskId, taskId } from '../core/id.ts'
import type { Inbox } from '../core/inbox.ts'
import type { Message } from '../core/message.ts'
import type { Result } from '../core/result.ts'
import { isTerminal } from '../core/status.ts'
import { type Task, toTask } from '../core/task.ts'
import type { Store, ThreadPage } from '../stores/store.ts'
import type { RunOptions, SpawnOptions } from './agent.ts'
import { checkInbox } from './checked-options.ts'
import { nextTurn } from './clock.ts'
import type { AcceptedRun, SendAnswer } from './intake.ts'
import { Node } from './node.ts'
import type { NodeOptions } from './node-options.ts'
import { OpeningSubscription } from './opening-subscription.ts'
import type { PersistedTask } from './persisted-task.ts'
import { type ListOptions, Reads, type TaskList, type ThreadSnapshot } from './reads.ts'
import { parentOf } from './request.ts'
import type { RestoreAnswer } from './restoration.ts'
import { unlessStopped } from './stop.ts'
import { checkAhead, type Subscription } from './subscription.ts'

export interface RuntimeOptions extends NodeOptions {
  /** How long `close` lets tasks finish before they are handed over. */
  readonly shutdownMs?: number
}

export interface SubscribeOptions {
  readonly thread: string
  /** Only this task's events; the subscription ends with its terminal one. */
  readonly task?: string
  /** The number after which to begin; 0, the beginning, unless given. */
  readonly after?: number
}

/** Opens the store when first needed; what it rejects with, every call rejects with. */
export type OpenStore = () => Promise<Store>

// Few enough that they take no time to speak of, many enough that a turn for each lot costs nothing.
const readsPerTurn = 64

interface Shared {
  readonly node: Promise<Node>
  readonly options: RuntimeOptions
}

/**
 * Background tasks for one principal: spawns, runs, cancels, watches. Everything is in the store before it is
 * answered; a runtime holds nothing that a later one on the same store would miss.
 */
export class Runtime {
  readonly #shared: Shared
  readonly #principal: Principal
  #reading: Promise<Reads> | undefined
  #readCount = 0

  private constructor(shared: Shared, principal: Principal) {
    this.#shared = shared
    this.#principal = principal
  }

  static create(openStore: OpenStore, options: RuntimeOptions): Runtime {
    const node = openStore().then((store) => Node.open(store, options))
    // Each call reports the failure; an open that nobody has asked anything of yet must not end the process.
    node.catch(() => {})
    return new Runtime({ node, options }, checkedPrincipal('owner'))
  }

  /** The same runtime for another principal, whose threads are its own. */
  as(principal: string): Runtime {
    return new Runtime(this.#shared, checkedPrincipal(principal))
  }

  /** Resolves when the store is open; rejects with what is wrong with it. */
  async opened(): Promise<void> {
    await this.#shared.node
  }

  /** Whether new work is accepted now: the store is up, and the runtime is not closing. */
  async isReady(): Promise<boolean> {
    return (await this.#shared.node).isReady
  }

  /** Spawns a background task. Inside a task this is `ctx.spawn`. */
  async spawn(options: SpawnOptions): Promise<Task> {
    const node = await this.#shared.node
    const inside = node.current(this.#principal)
    if (inside) return inside.spawn(options)
    return node.spawning.spawn(this.#principal, options)
  }

  /** Accepts a run into its thread's queue. */
  async run(options: RunOptions): Promise<AcceptedRun> {
    return (await this.#shared.node).intake.run(this.#principal, options)
  }

  async get(task: string): Promise<Task | undefined> {
    return (await this.#reads()).task(task)
  }

  /** Newest first. */
  async list(options: ListOptions = {}): Promise<TaskList> {
    return (await this.#reads()).tasks(options)
  }

  /** The principal's threads, newest first. */
  async threads(options: { readonly cursor?: string; readonly limit?: number } = {}): Promise<ThreadPage> {
    return (await this.#reads()).threads(options)
  }

  /** A consistent picture of a thread; one never used is empty. */
  async thread(thread: string): Promise<ThreadSnapshot> {
    return (await this.#reads()).snapshot(thread)
  }

  async messages(
    thread: string,
    options: { readonly after?: number; readonly limit?: number } = {},
  ): Promise<Message[]> {
    return (await this.#reads()).messages(thread, options)
  }

  async hasRunning(thread: string): Promise<boolean> {
    return (await this.#reads()).hasRunning(thread)
  }

  /** Cancels one task; its attached children follow when it ends. False if it had ended, or never was. */
  async cancel(task: string, reason?: string): Promise<boolean> {
    const cancelled = await this.#cancel(task, 'task', reason)
    return cancelled.length > 0
  }

  /** Cancels a task with all its attached descendants, and says how many had not ended. */
  async cancelTree(task: string, reason?: string): Promise<number> {
    const cancelled = await this.#cancel(task, 'tree', reason)
    return cancelled.length
  }

  /** Cancels all live tasks of a thread, and says how many there were. */
  async cancelAll(thread: string, reason?: string): Promise<number> {
    const cancelled = await this.cancelThread(thread, { scope: 'all', ...(reason !== undefined && { reason }) })
    return cancelled.length
  }

  /** `runs` (the default) takes the active run with its tree and the queue; `all` every live task. */
  async cancelThread(
    thread: string,
    options: { readonly scope?: 'runs' | 'all'; readonly reason?: string } = {},
  ): Promise<readonly TaskId[]> {
    const node = await this.#shared.node
    const key = (await this.#reads()).key(thread)
    const { scope = 'runs', reason } = options
    if (scope !== 'runs' && scope !== 'all') throw new HoldfastError('invalid_request', 'A scope is runs or all')
    return node.intake.cancel(key, { kind: scope }, this.#principal, reason)
  }

  /** Sends a message to a task's inbox. With `thread`, only if the task is of that thread. */
  async send(
    task: string,
    message: { readonly content: unknown; readonly from?: string },
    options: { readonly thread?: string } = {},
  ): Promise<SendAnswer> {
    const node = await this.#shared.node
    const reads = await this.#reads()
    const record = await reads.record(task)
    if (!record) return { isSent: false, reason: 'not_found' }
    if (options.thread !== undefined && reads.key(options.thread) !== record.key) {
      return { isSent: false, reason: 'not_owner' }
    }
    return node.intake.send(record, this.#principal, message)
  }

  /** Resolves with the task once it has ended, however it ends; undefined if there is none. */
  async wait(task: string, options: { readonly signal?: AbortSignal } = {}): Promise<Task | undefined> {
    const node = await this.#shared.node
    for (;;) {
      const listener = node.signals.listen(`end:${String(task)}`)
      try {
        if (!this.#isExecutedHere(node, task)) {
          const found = await this.get(task)
          if (!found || isTerminal(found.status)) return found
        }
        const { heard } = listener
        const ended = await (options.signal ? unlessStopped(options.signal, heard) : heard)
        if (ended) return toTask(ended)
      } finally {
        listener.stop()
      }
    }
  }

  /** Ended tasks that are not runs and whose result nobody took. Reading takes nothing. */
  async results(thread: string): Promise<{ readonly results: readonly Result[]; readonly running: number }> {
    return (await this.#reads()).results(thread)
  }

  /** Takes results, and answers with those that were there to be taken. */
  async collect(thread: string, tasks: readonly string[]): Promise<readonly TaskId[]> {
    const node = await this.#shared.node
    return node.intake.collect((await this.#reads()).key(thread), tasks)
  }

  /** Puts tasks of a snapshot back into the store; one that is there already is left as it is. */
  async restore(tasks: readonly PersistedTask[]): Promise<RestoreAnswer> {
    return (await this.#shared.node).restoration.restore(this.#principal, tasks)
  }

  /** The log from a number on: replay, then live, without a seam. */
  subscribe(options: SubscribeOptions): AsyncIterableIterator<Event, undefined> {
    const { after = 0 } = options
    if (!Number.isSafeInteger(after) || after < 0) {
      throw new HoldfastError('invalid_request', 'after is a whole number from 0 on')
    }
    return new OpeningSubscription(() => this.#subscribe(options, after))
  }

  /** Runs a function in which spawns inherit this lineage, as a tool call of some other framework would have it. */
  async within<Value>(
    parent: Omit<NonNullable<SpawnOptions['parent']>, 'task'>,
    fn: () => Value | Promise<Value>,
  ): Promise<Value> {
    const { ambient } = await this.#shared.node
    const outer = ambient.scope
    const lineage = { ...outer?.lineage, ...parentOf({ parent }) }
    return ambient.run({ ...outer, lineage }, async () => await fn())
  }

  /** The task whose code is running, if any. */
  async currentTask(): Promise<TaskId | undefined> {
    return (await this.#shared.node).ambient.scope?.task
  }

  /** Gives this process's owner inbox, or takes it away. */
  async setInbox(inbox: Inbox | undefined): Promise<void> {
    const { owners } = await this.#shared.node
    checkInbox(inbox)
    owners.common = inbox
  }

  /** Accepts no new work, lets tasks finish for a while, hands the rest over, and closes the store. */
  async close(options: { readonly drainMs?: number } = {}): Promise<void> {
    // What never opened has nothing to close; whoever used it was told.
    const node = await this.#shared.node.catch(() => undefined)
    await node?.close(options.drainMs ?? this.#shared.options.shutdownMs ?? 25_000)
  }

  /** Then it has not ended, and its end will be heard of: the store need not be asked. */
  #isExecutedHere(node: Node, task: string): boolean {
    const execution = node.executor.get(taskId(task))
    return execution?.hasEnded === false && principalOf(execution.thread) === this.#principal
  }

  async #reads(): Promise<Reads> {
    this.#readCount += 1
    // A store may answer within the turn, and code that asks until something has changed would keep it from changing.
    if (this.#readCount % readsPerTurn === 0) await nextTurn()
    this.#reading ??= this.#shared.node.then(({ store, executor, feed }) => {
      const principal = this.#principal
      const execution = (task: TaskId) => executor.get(task)
      return new Reads({ store, principal, execution, watchersOf: (key) => feed.watchersOf(key) })
    })
    return this.#reading
  }

  async #cancel(task: string, kind: 'task' | 'tree', reason: string | undefined): Promise<readonly TaskId[]> {
    const node = await this.#shared.node
    const record = await (await this.#reads()).record(task)
    if (!record || isTerminal(record.status)) return []
    return node.intake.cancel(record.key, { kind, task: taskId(task) }, this.#principal, reason)
  }

  async #subscribe(options: SubscribeOptions, after: number): Promise<Subscription | undefined> {
    const node = await this.#shared.node
    const reads = await this.#reads()
    const key = reads.key(options.thread)
    if (options.task === undefined) return node.feed.subscribe(key, { after })
    const record = await reads.record(options.task)
    if (record?.key !== key) {
      throw new HoldfastError('not_found', `There is no task ${options.task} in thread ${options.thread}`)
    }
    if (isTerminal(record.status) && after >= record.seq) {
      // Its terminal event is behind the start: nothing can follow.
      checkAhead(after, (await node.store.events(key, { after, limit: 1 })).head)
      return undefined
    }
    return node.feed.subscribe(key, { after, task: { id: record.id, first: record.firstSeq } })
  }
}
