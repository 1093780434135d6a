import type { Event } from '../core/event.ts'
import { principal as checkedPrincipal, type Principal, type TaskId } from '../core/id.ts'
import type { Inbox } from '../core/inbox.ts'
import type { AgentName, AnyAgents, TaskIdOf, TaskOf } from '../core/known-agents.ts'
import type { Message } from '../core/message.ts'
import type { Question } from '../core/question.ts'
import type { Result } from '../core/result.ts'
import type { Task } from '../core/task.ts'
import type { ThreadSnapshot } from '../core/thread-snapshot.ts'
import type { MessagePage, ThreadPage } from '../stores/store.ts'
import type { RunOptions, SpawnOptions } from './agent.ts'
import type { Asker } from './asker.ts'
import type { CancelOptions, CancelThreadOptions, Why } from './cancelling.ts'
import { cancelTask, cancelThread, reasonIn } from './cancelling.ts'
import { checkInbox, checkOptions } from './checked-options.ts'
import { nextTurn } from './clock.ts'
import { eraseThread } from './erasure.ts'
import { type AgentSummary, infoOf, type Readiness, type RuntimeInfo, summariesOf } from './info.ts'
import type { AcceptedRun } from './intake.ts'
import type { Results, RunOf, SpawnFunction, SpawnOf } from './known-asks.ts'
import type { LogCursor } from './log-cursor.ts'
import type { LogPage } from './log-page.ts'
import type { EventStream, LogPageOptions, LogStartOptions, SubscribeOptions } from './log-reads.ts'
import { LogReads, subscribe } from './log-reads.ts'
import { type Logger, UnheardLog } from './logger.ts'
import type { MessageToSend, SendAnswer } from './message-to-send.ts'
import { Node } from './node.ts'
import type { OpenStore, RuntimeOptions } from './node-options.ts'
import type { PersistedTask } from './persisted-task.ts'
import { type ListOptions, type MessageOptions, Reads, type TaskList } from './reads.ts'
import type { RestoreAnswer } from './restoration.ts'
import type { Pruned, PruneOptions } from './retention.ts'
import { sendTo } from './send-to.ts'
import { type WaitOptions, waitForEnd } from './wait-for-end.ts'
import { type Lineage, withinLineage } from './within-lineage.ts'

export type { OpenStore, RuntimeOptions } from './node-options.ts'

// Few enough that they take no time to speak of, many enough that a turn for each lot costs nothing.
const readsPerTurn = 64

interface Shared {
  readonly node: Promise<Node>
  readonly options: RuntimeOptions
  readonly unheard: UnheardLog
}

/**
 * Background tasks for one principal: spawns, runs, cancels, watches. Everything is in the store before it is
 * answered; a runtime holds nothing that a later one on the same store would miss.
 */
export class Runtime<Known extends AnyAgents = AnyAgents> {
  /** Whose threads these are. */
  readonly principal: Principal
  readonly #shared: Shared
  #reading: Promise<Reads> | undefined
  #readCount = 0

  private constructor(shared: Shared, principal: Principal) {
    this.#shared = shared
    this.principal = principal
  }

  static create<Known extends AnyAgents>(openStore: OpenStore, options: RuntimeOptions): Runtime<Known> {
    checkOptions(options)
    const unheard = new UnheardLog()
    const node = openStore().then((store) => Node.open(store, { ...options, log: options.log ?? unheard }))
    // Each call reports the failure; an open that nobody has asked anything of yet must not end the process.
    node.catch(() => {})
    return new Runtime({ node, options, unheard }, checkedPrincipal('owner'))
  }

  /** The same runtime for another principal, whose threads are its own. */
  as(principal: string): Runtime<Known> {
    return new Runtime(this.#shared, checkedPrincipal(principal))
  }

  /** Where a runtime that was given no `log` tells from now on what goes wrong. What was given one goes on with that. */
  logTo(log: Logger): void {
    this.#shared.unheard.hear(log)
  }

  /** Resolves when the store is open; rejects with what is wrong with it. */
  async opened(): Promise<void> {
    await this.#shared.node
  }

  /** Whether new work is accepted now: the store is up, and the runtime is not closing. */
  async isReady(): Promise<boolean> {
    return (await this.readiness()).isReady
  }

  async readiness(): Promise<Readiness> {
    return (await this.#shared.node).readiness
  }

  async info(): Promise<RuntimeInfo> {
    return infoOf(await this.#shared.node)
  }

  /** The agents that are registered here. */
  async agents(): Promise<AgentSummary[]> {
    return summariesOf(await this.#shared.node)
  }

  /** What was counted, as text of Prometheus; undefined if the metrics that were given cannot be read. */
  async metricsText(): Promise<string | undefined> {
    return (await this.#shared.node).metricsText()
  }

  /** Counts a reader that was cut because it took nothing. */
  async countSlowReader(): Promise<void> {
    ;(await this.#shared.node).metrics.slowReader()
  }

  /** Spawns a background task. Inside a task this is `ctx.spawn`. */
  async spawn(options: SpawnFunction): Promise<Task>
  async spawn<Name extends AgentName<Known>>(options: SpawnOf<Known, Name>): Promise<TaskOf<Results<Known>[Name]>>
  async spawn(options: SpawnOptions): Promise<Task> {
    const node = await this.#shared.node
    const inside = node.current(this.principal)
    if (inside) return inside.spawn(options)
    return node.spawning.spawn(this.principal, options)
  }

  /** Accepts a run into its thread's queue. */
  async run<Name extends AgentName<Known>>(options: RunOf<Known, Name>): Promise<AcceptedRun<Results<Known>[Name]>>
  async run(options: RunOptions): Promise<AcceptedRun> {
    return (await this.#shared.node).intake.run(this.principal, options)
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

  async messages(thread: string, options: MessageOptions = {}): Promise<Message[]> {
    return (await this.#reads()).messages(thread, options)
  }

  /** A page of the conversation, and where the next one begins. */
  async messagePage(thread: string, options: MessageOptions = {}): Promise<MessagePage> {
    return (await this.#reads()).messagePage(thread, options)
  }

  async hasRunning(thread: string): Promise<boolean> {
    return (await this.#reads()).hasRunning(thread)
  }

  /** Cancels one task; its attached children follow when it ends. False if it had ended, or never was. */
  async cancel(task: string, why?: Why): Promise<boolean> {
    return ((await this.cancelTask(task, { tree: false, ...reasonIn(why) }))?.length ?? 0) > 0
  }

  /** Cancels a task with all its attached descendants, and says how many had not ended. */
  async cancelTree(task: string, why?: Why): Promise<number> {
    return (await this.cancelTask(task, reasonIn(why)))?.length ?? 0
  }

  /** Cancels a task, and answers with every task in reach that had not ended; undefined if there is no such task. */
  async cancelTask(task: string, options: CancelOptions = {}): Promise<readonly TaskId[] | undefined> {
    return cancelTask(await this.#asker(), task, options)
  }

  /** Cancels all live tasks of a thread, and says how many there were. */
  async cancelAll(thread: string, why?: Why): Promise<number> {
    return (await this.cancelThread(thread, { scope: 'all', ...reasonIn(why) })).length
  }

  /** `runs` (the default) takes the active run with its tree and the queue; `all` every live task. */
  async cancelThread(thread: string, options: CancelThreadOptions = {}): Promise<readonly TaskId[]> {
    return cancelThread(await this.#asker(), thread, options)
  }

  /** Cancels all that lives in a thread, waits for it to end, and removes all content. The numbers of its log go on. */
  async deleteThread(thread: string): Promise<void> {
    await eraseThread(await this.#shared.node, (await this.#reads()).key(thread), this.principal)
  }

  /** Removes what the principal need not keep, as much as takes a moment; while the answer has a `cursor`, ask again. */
  async prune(options: PruneOptions): Promise<Pruned> {
    return (await this.#shared.node).retention.prune(this.principal, options)
  }

  /** Sends a message to a task's inbox. With `thread`, only if the task is of that thread. */
  async send(task: string, message: MessageToSend, options: { readonly thread?: string } = {}): Promise<SendAnswer> {
    return sendTo(await this.#asker(), task, message, options.thread)
  }

  /** The principal's open questions, oldest first. */
  async questions(options: { readonly thread?: string } = {}): Promise<readonly Question[]> {
    return (await this.#shared.node).questions.open(this.principal, options.thread)
  }

  /** Answers a question. Rejects if there is none, it was answered or closed before, or the answer is no option of it. */
  async answer(question: string, answer: unknown): Promise<Question> {
    return (await this.#shared.node).questions.answer(this.principal, question, answer)
  }

  /** Resolves with the task once it has ended, however it ends; undefined if there is none. */
  async wait<Result>(task: string | TaskIdOf<Result>, options?: WaitOptions): Promise<TaskOf<Result> | undefined>
  async wait(task: string, options: WaitOptions = {}): Promise<Task | undefined> {
    const [node, reads] = [await this.#shared.node, await this.#reads()]
    return waitForEnd(node, this.principal, task, { read: () => reads.record(task), signal: options.signal })
  }

  /** Ended tasks that are not runs and whose result nobody took. Reading takes nothing. */
  async results(thread: string): Promise<{ readonly results: readonly Result[]; readonly running: number }> {
    return (await this.#reads()).results(thread)
  }

  /** Takes results, and answers with those that were there to be taken. */
  async collect(thread: string, tasks: readonly string[]): Promise<readonly TaskId[]> {
    const { intake, reads } = await this.#asker()
    return intake.collect(reads.key(thread), tasks)
  }

  /** Puts tasks of a snapshot back into the store; one that is there already is left as it is. */
  async restore(tasks: readonly PersistedTask[]): Promise<RestoreAnswer> {
    return (await this.#shared.node).restoration.restore(this.principal, tasks)
  }

  /** The log from a number on: replay, then live, without a seam. */
  subscribe(options: SubscribeOptions): AsyncIterableIterator<Event, undefined> {
    return subscribe(options, () => this.#logs())
  }

  /** The log from a number on, in batches ready to be sent. Rejects if it cannot begin there. */
  async openLog(options: LogStartOptions): Promise<LogCursor> {
    return (await this.#logs()).open(options)
  }

  /** Some of the log as it is now. */
  async logPage(thread: string, options: LogPageOptions = {}): Promise<LogPage> {
    return (await this.#logs()).page(thread, options)
  }

  /** The events of all the principal's threads from now on, each thread in order and without a hole. */
  async openFirehose(options: { readonly types?: readonly string[] } = {}): Promise<EventStream> {
    return (await this.#logs()).openFirehose(options.types)
  }

  /** Runs a function in which spawns inherit this lineage, as a tool call of some other framework would have it. */
  async within<Value>(parent: Lineage, fn: () => Value | Promise<Value>): Promise<Value> {
    return withinLineage((await this.#shared.node).ambient, parent, fn)
  }

  /** The task whose code is running, if any. */
  async currentTask(): Promise<TaskId | undefined> {
    return (await this.#shared.node).ambient.scope?.task
  }

  /** Gives this process's owner inbox, or takes it away. */
  async setInbox(inbox: Inbox | undefined): Promise<void> {
    checkInbox(inbox)
    ;(await this.#shared.node).owners.common = inbox
  }

  /** Accepts no new work, lets tasks finish for a while, hands the rest over, and closes the store. */
  async close(options: { readonly drainMs?: number } = {}): Promise<void> {
    // What never opened has nothing to close; whoever used it was told.
    const node = await this.#shared.node.catch(() => undefined)
    await node?.close(options.drainMs ?? this.#shared.options.shutdownMs ?? 25_000)
  }

  async #reads(): Promise<Reads> {
    this.#readCount += 1
    // A store may answer within the turn, and code that asks until something has changed would keep it from changing.
    if (this.#readCount % readsPerTurn === 0) await nextTurn()
    this.#reading ??= this.#shared.node.then(({ store, outputs, feed }) => {
      const principal = this.principal
      return new Reads({ store, principal, outputs, watchersOf: (key) => feed.watchersOf(key) })
    })
    return this.#reading
  }

  async #asker(): Promise<Asker> {
    const { intake } = await this.#shared.node
    return { intake, reads: await this.#reads(), principal: this.principal }
  }

  async #logs(): Promise<LogReads> {
    const { store, feed } = await this.#shared.node
    return new LogReads({ store, feed, reads: await this.#reads(), principal: this.principal })
  }
}
