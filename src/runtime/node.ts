import { randomUUID } from 'node:crypto'
import { HoldfastError } from '../core/errors.ts'
import { type EventData, isTerminalEvent } from '../core/event.ts'
import { type Principal, principalOf, type TaskId, type ThreadKey, taskId } from '../core/id.ts'
import { customItem, endItem, type Inbox } from '../core/inbox.ts'
import { defaultLimits, type Limits } from '../core/limits.ts'
import { isTerminal } from '../core/status.ts'
import type { TaskRecord } from '../core/task.ts'
import type { Unit } from '../core/unit.ts'
import type { Store } from '../stores/store.ts'
import type { Agent, AgentContext, Agents } from './agent.ts'
import { Ambient } from './ambient.ts'
import { type Clock, systemClock } from './clock.ts'
import { committedRecords, startsIn } from './committed-record.ts'
import { createContext } from './context.ts'
import { Dispatcher } from './dispatcher.ts'
import type { Committed } from './entry.ts'
import { Executor } from './executor.ts'
import { Feed } from './feed.ts'
import { Intake } from './intake.ts'
import { type Logger, silentLogger } from './logger.ts'
import { Metrics } from './metrics.ts'
import { Recovery } from './recovery.ts'
import { Signals } from './signals.ts'
import { Slots } from './slots.ts'
import { onStrayRejection } from './stray-rejections.ts'
import { Supervisor } from './supervisor.ts'
import { SequentialTaskIds, type TaskIds } from './task-ids.ts'
import { Threads } from './threads.ts'
import { Writer } from './writer.ts'

export interface NodeOptions {
  readonly agents?: Agents
  readonly clock?: Clock
  readonly log?: Logger
  readonly limits?: Partial<Limits>
  /** `sequential` (the default: `bg_0`, `bg_1`, …) or `random`, which tells nobody how many tasks there are. */
  readonly ids?: 'sequential' | 'random'
  /** How long after its last sign of life a node counts as gone. */
  readonly leaseMs?: number
  /** How long a task may take to end after its signal fired. */
  readonly graceMs?: number
  /** How much code may run at once; a task that waits does not count. */
  readonly concurrency?: number
  /** The owner inbox of tasks that were not spawned with one of their own. */
  readonly inbox?: Inbox
  /** Called when the store cannot tell what is on the disk. Ends the process unless given. */
  readonly onFatal?: (error: unknown) => void
}

/**
 * One node: the parts of the runtime, put together around a store. Its public face is the Runtime.
 */
export class Node {
  readonly id = `node_${randomUUID()}`
  readonly store: Store
  readonly limits: Limits
  readonly feed: Feed
  readonly intake: Intake
  readonly executor: Executor
  readonly ambient = new Ambient()
  readonly signals = new Signals()
  readonly writer: Writer
  readonly metrics = new Metrics()
  readonly clock: Clock
  readonly #log: Logger
  readonly #agents: ReadonlyMap<string, Agent>
  readonly #owners = new Map<TaskId, Inbox>()
  readonly #ids: TaskIds
  readonly #slots: Slots
  readonly #recovery: Recovery
  readonly #dispatcher: Dispatcher
  readonly #supervisor: Supervisor
  #inbox: Inbox | undefined
  #isDraining = false
  #stopListening: (() => void)[] = []

  constructor(store: Store, options: NodeOptions) {
    this.store = store
    this.limits = { ...defaultLimits, ...options.limits }
    this.clock = options.clock ?? systemClock
    this.#log = options.log ?? silentLogger
    this.#agents = agentsByName(options.agents ?? {})
    this.#inbox = options.inbox
    this.#ids = options.ids === 'random' ? randomTaskIds : new SequentialTaskIds((count) => store.allocate(count))
    this.feed = new Feed(store, this.metrics)
    const log = this.#log
    const threads = new Threads(store)
    this.#slots = new Slots(options.concurrency ?? 256, () => this.#dispatcher.poke())
    const agent = (name: string) => this.#agents.get(name)
    this.writer = new Writer({
      store,
      threads,
      clock: this.clock,
      log,
      metrics: this.metrics,
      around: this.#surroundings(),
      onCommitted: (unit, verdict) => this.#onCommitted(unit, verdict),
      onFatal: options.onFatal ?? endProcess,
    })
    const { writer, ambient, metrics, limits, clock, signals } = this
    this.executor = new Executor({
      writer,
      ambient,
      metrics,
      limits,
      clock,
      log,
      slots: this.#slots,
      storeClock: store.clock,
      graceMs: options.graceMs ?? 5_000,
      agent,
      context: (execution) =>
        createContext(
          {
            writer,
            store,
            ambient,
            clock,
            signals,
            log,
            stepBytesMax: limits.stepBytes,
            ownerOf: (owned) => this.#owners.get(owned.task) ?? this.#inbox,
            spawn: (inside, taker, spawning) => this.intake.spawnInside(inside, taker, spawning),
          },
          execution,
        ),
    })
    const { executor } = this
    this.intake = new Intake({
      store,
      writer,
      executor,
      ambient,
      limits,
      newMessageId: () => `msg_${randomUUID()}`,
      checkOpen: () => this.#checkOpen(),
      hasAgent: (name) => this.#agents.has(name),
      keepOwner: (task, inbox) => this.#owners.set(task, inbox),
    })
    this.#recovery = new Recovery({ store, writer, slots: this.#slots, log, agent })
    this.#dispatcher = new Dispatcher({
      store,
      writer,
      slots: this.#slots,
      log,
      node: this.id,
      agents: () => [...this.#agents.keys()],
      recover: (orphan) => this.#recovery.recover(orphan),
    })
    this.#supervisor = new Supervisor({
      store,
      writer,
      executor,
      dispatcher: this.#dispatcher,
      clock,
      log,
      node: this.id,
      leaseMs: options.leaseMs ?? 15_000,
    })
  }

  get isReady(): boolean {
    return !this.#isDraining && !this.writer.isDown
  }

  async open(): Promise<void> {
    await this.store.open()
    const stopWatching = this.store.watch((key) => this.#onHint(key))
    const stopHearing = onStrayRejection((reason) => this.#claimRejection(reason))
    this.#stopListening = [stopWatching, stopHearing]
    this.metrics.observe({
      queueDepth: () => this.#dispatcher.waiting.pending,
      unclaimableTasks: () => this.#dispatcher.waiting.unclaimable,
      streams: () => this.feed.streamCount,
    })
    await this.#supervisor.open()
  }

  async close(drainMs: number): Promise<void> {
    this.#isDraining = true
    await this.#supervisor.close(drainMs)
    await this.writer.close()
    this.feed.close()
    for (const stop of this.#stopListening) stop()
    this.metrics.close()
    await this.store.close()
  }

  /** The context of the task whose code is running, if it is this principal's. */
  current(principal: Principal): AgentContext | undefined {
    const task = this.ambient.scope?.task
    const execution = task === undefined ? undefined : this.executor.get(task)
    if (!execution || principalOf(execution.thread) !== principal) return undefined
    return this.executor.contextOf(execution.task)
  }

  setInbox(inbox: Inbox | undefined): void {
    this.#inbox = inbox
  }

  #checkOpen(): void {
    if (!this.#isDraining) return
    throw new HoldfastError('draining', 'The runtime is closing and accepts no new work', {
      facts: { retryAfterMs: 1000 },
    })
  }

  #surroundings() {
    return {
      node: this.id,
      limits: this.limits,
      newTaskId: () => this.#ids.take(),
      versionOf: (name: string | undefined) => (name === undefined ? undefined : this.#agents.get(name)?.version),
      takeSlot: (task: TaskRecord) => {
        const canRun = task.closure || (task.agent !== undefined && this.#agents.has(task.agent))
        return Boolean(canRun) && !this.#isDraining && this.#slots.tryTake()
      },
      giveBack: ({ ids, slotCount }: { ids: readonly TaskId[]; slotCount: number }) => {
        for (const id of ids) {
          this.executor.dropClosure(id)
          this.#owners.delete(id)
        }
        this.#ids.putBack(ids)
        for (let i = 0; i < slotCount; i++) this.#slots.give()
      },
      refillTaskIds: () => this.#ids.refill(),
    }
  }

  /** What follows in this process from a commit, in the order of the commits and before anyone is answered. */
  #onCommitted(unit: Unit, verdict: Committed): void {
    this.feed.publish(unit.thread, verdict.first, verdict.at, unit.events)
    if (unit.fence) {
      const lastSeq = verdict.first + unit.events.length - 1
      this.executor.get(unit.fence.task)?.committed(unit.events, lastSeq)
    }
    if (unit.tasks) this.#onTasksChanged(unit, verdict)
    for (const event of unit.events) {
      if (event.task === undefined) continue
      if (event.type === 'inbox.accepted') this.signals.fire(`mail:${event.task}`)
      if (event.type === 'custom') this.#tellOwner(event.task, event.data)
      const execution = event.type === 'task.cancelling' ? this.executor.get(event.task) : undefined
      if (execution) this.executor.cancel(execution)
    }
  }

  #onTasksChanged(unit: Unit, verdict: Committed): void {
    const starts = startsIn(unit)
    let isWorkWaiting = false
    for (const record of committedRecords(unit, verdict)) {
      const legacy = unit.operation === 'resume' ? this.#recovery.takeLegacy(record.id) : undefined
      if (starts.has(record.id) || legacy) this.executor.begin(record, legacy)
      if (record.ready) isWorkWaiting = true
      if (isTerminal(record.status)) this.#onEnded(unit, record)
    }
    if (isWorkWaiting) this.#dispatcher.poke()
  }

  #onEnded(unit: Unit, record: TaskRecord): void {
    const isEndedHere = unit.events.some((event) => event.task === record.id && isTerminalEvent(event))
    if (!isEndedHere) return
    this.metrics.taskEnded(record.status)
    this.executor.dropClosure(record.id)
    this.signals.fire(`end:${record.id}`)
    if (record.parent?.task !== undefined) this.signals.fire(`mail:${record.parent.task}`)
    const owner = this.#owners.get(record.id) ?? this.#inbox
    this.#owners.delete(record.id)
    owner?.send(endItem(record))
  }

  #tellOwner(task: TaskId, data: string): void {
    const owner = this.#owners.get(task) ?? this.#inbox
    if (!owner) return
    const { name, payload } = JSON.parse(data) as EventData['custom']
    owner.send(customItem(task, name, payload))
  }

  /** Another node may have written to a thread. */
  #onHint(key: ThreadKey): void {
    this.feed.hint(key)
    this.#dispatcher.poke()
  }

  /** A rejection that nobody handles fails the task whose code it comes from. */
  #claimRejection(reason: unknown): boolean {
    const task = this.ambient.scope?.task
    const execution = task === undefined ? undefined : this.executor.get(task)
    if (task === undefined) return false
    if (execution) this.executor.fail(execution, reason)
    else this.#log.warn({ task, error: reason }, 'a rejection that nobody handled came from a task that has ended')
    return true
  }
}

const randomTaskIds: TaskIds = {
  take: () => taskId(`bg_${randomUUID().replaceAll('-', '')}`),
  putBack: () => {},
  refill: async () => {},
}

function agentsByName(agents: Agents): ReadonlyMap<string, Agent> {
  const entries = Object.entries(agents).map(
    ([name, agent]) => [name, typeof agent === 'function' ? { run: agent } : agent] as const,
  )
  return new Map(entries)
}

/** Nothing is known of the file any more; going on could tell somebody that something is stored which is not. */
function endProcess(error: unknown): never {
  process.stderr.write(`holdfast: the store failed and its state is unknown; the process ends. ${String(error)}\n`)
  process.exit(1)
}
