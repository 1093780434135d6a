import { randomUUID } from 'node:crypto'
import { HoldfastError } from '../core/errors.ts'
import { type Principal, principalOf, type ThreadKey, taskId } from '../core/id.ts'
import type { Inbox } from '../core/inbox.ts'
import { defaultLimits, type Limits } from '../core/limits.ts'
import type { Store } from '../stores/store.ts'
import type { Agent, AgentContext, Agents } from './agent.ts'
import { Ambient } from './ambient.ts'
import type { BatchSurroundings } from './batch.ts'
import { type Clock, systemClock } from './clock.ts'
import { type ContextParts, TaskContext } from './context.ts'
import { Dispatcher } from './dispatcher.ts'
import { Executor } from './executor.ts'
import { Feed } from './feed.ts'
import { Intake } from './intake.ts'
import { harmless, type Logger, silentLogger } from './logger.ts'
import { Metrics } from './metrics.ts'
import { Owners } from './owners.ts'
import { Reactions } from './reactions.ts'
import { Recovery } from './recovery.ts'
import { Restoration } from './restoration.ts'
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

/** One node: the parts of the runtime, put together around a store. Its public face is the Runtime. */
export class Node {
  readonly id = `node_${randomUUID()}`
  readonly store: Store
  readonly clock: Clock
  readonly limits: Limits
  readonly log: Logger
  readonly ambient = new Ambient()
  readonly signals = new Signals()
  readonly metrics = new Metrics()
  readonly owners: Owners
  readonly feed: Feed
  readonly writer: Writer
  readonly executor: Executor
  readonly intake: Intake
  readonly restoration: Restoration
  readonly #agents: ReadonlyMap<string, Agent>
  readonly #ids: TaskIds
  readonly #slots: Slots
  readonly #dispatcher: Dispatcher
  readonly #supervisor: Supervisor
  #isDraining = false
  #closing: Promise<void> | undefined
  #stopListening: (() => void)[] = []

  static async open(store: Store, options: NodeOptions): Promise<Node> {
    await store.open()
    try {
      const node = new Node(store, options)
      await node.#start()
      return node
    } catch (error) {
      await store.close()
      throw error
    }
  }

  private constructor(store: Store, options: NodeOptions) {
    this.store = store
    this.clock = options.clock ?? systemClock
    this.limits = { ...defaultLimits, ...options.limits }
    this.log = harmless(options.log ?? silentLogger)
    this.owners = new Owners(options.inbox)
    this.feed = new Feed(store, this.metrics)
    this.#agents = agentsByName(options.agents ?? {})
    this.#ids = options.ids === 'random' ? randomTaskIds : new SequentialTaskIds((count) => store.allocate(count))
    this.#slots = new Slots(options.concurrency ?? 256, () => this.#dispatcher.poke())
    const slots = this.#slots
    const agent = (name: string) => this.#agents.get(name)
    this.writer = new Writer({
      ...this,
      threads: new Threads(store),
      around: this.#surroundings(),
      onCommitted: (unit, verdict) => reactions.committed(unit, verdict),
      onFatal: options.onFatal ?? endProcess,
    })
    const contextParts = this.#contextParts()
    this.executor = new Executor({
      ...this,
      slots,
      storeClock: store.clock,
      graceMs: options.graceMs ?? 5_000,
      agent,
      context: (execution) => new TaskContext(contextParts, execution),
    })
    this.intake = new Intake({
      ...this,
      newMessageId: () => `msg_${randomUUID()}`,
      checkOpen: () => this.#checkOpen(),
      hasAgent: (name) => this.#agents.has(name),
    })
    this.restoration = new Restoration({
      ...this,
      checkOpen: () => this.#checkOpen(),
      reserveIds: (ids) => this.#ids.reserve(ids),
    })
    const recovery = new Recovery({ ...this, slots, agent })
    const reactions = new Reactions({ ...this, recovery, onWork: () => this.#dispatcher.poke() })
    this.#dispatcher = new Dispatcher({
      ...this,
      slots,
      node: this.id,
      agents: () => [...this.#agents.keys()],
      closures: (countMax) => this.executor.waitingClosures(countMax),
      recover: (orphan) => recovery.recover(orphan),
    })
    const leaseMs = options.leaseMs ?? 15_000
    this.#supervisor = new Supervisor({ ...this, dispatcher: this.#dispatcher, node: this.id, leaseMs })
  }

  get isReady(): boolean {
    return !this.#isDraining && !this.writer.isDown
  }

  async #start(): Promise<void> {
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

  /** Closes once; a later call waits for the first, because the store may be another node's by then. */
  close(drainMs: number): Promise<void> {
    this.#closing ??= this.#close(drainMs)
    return this.#closing
  }

  async #close(drainMs: number): Promise<void> {
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

  #checkOpen(): void {
    if (!this.#isDraining) return
    throw new HoldfastError('draining', 'The runtime is closing and accepts no new work', {
      facts: { retryAfterMs: 1000 },
    })
  }

  #contextParts(): ContextParts {
    return {
      ...this,
      stepBytesMax: this.limits.stepBytes,
      ownerOf: (owned) => this.owners.of(owned.task),
      spawn: (inside, taker, options) => this.intake.spawnInside(inside, taker, options),
    }
  }

  #surroundings(): BatchSurroundings {
    return {
      node: this.id,
      limits: this.limits,
      newTaskId: () => this.#ids.take(),
      versionOf: (name) => (name === undefined ? undefined : this.#agents.get(name)?.version),
      takeSlot: (task) => {
        const canRun = task.closure ?? (task.agent !== undefined && this.#agents.has(task.agent))
        return canRun && !this.#isDraining && this.#slots.tryTake()
      },
      giveBack: ({ ids, slotCount }) => {
        for (const id of ids) {
          this.executor.dropClosure(id)
          this.owners.drop(id)
        }
        this.#ids.putBack(ids)
        for (let i = 0; i < slotCount; i++) this.#slots.give()
      },
      refillTaskIds: (count) => this.#ids.refill(count),
    }
  }

  /** Another node may have written to a thread. */
  #onHint(key: ThreadKey): void {
    this.feed.hint(key)
    this.#dispatcher.poke()
  }

  /** A rejection that nobody handles fails the task whose code it comes from. */
  #claimRejection(reason: unknown): boolean {
    const task = this.ambient.scope?.task
    if (task === undefined) return false
    const execution = this.executor.get(task)
    if (execution) this.executor.fail(execution, reason)
    else this.log.warn({ task, error: reason }, 'a rejection that nobody handled came from a task that has ended')
    return true
  }
}

const randomTaskIds: TaskIds = {
  take: () => taskId(`bg_${randomUUID().replaceAll('-', '')}`),
  putBack: () => {},
  refill: async () => {},
  reserve: () => {},
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
