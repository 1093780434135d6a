import { randomUUID } from 'node:crypto'
import { HoldfastError } from '../core/errors.ts'
import type { EventRow } from '../core/event-row.ts'
import { type Principal, principalOf, type TaskId, type ThreadKey } from '../core/id.ts'
import { defaultLimits, type Limits } from '../core/limits.ts'
import type { Store } from '../stores/store.ts'
import type { AgentContext } from './agent.ts'
import { AgentPlaces } from './agent-places.ts'
import { Ambient } from './ambient.ts'
import type { BatchSurroundings } from './batch.ts'
import { checkOptions } from './checked-options.ts'
import { type Clock, systemClock } from './clock.ts'
import { Closures } from './closures.ts'
import { Company } from './company.ts'
import { TaskContext } from './context.ts'
import { Dispatcher } from './dispatcher.ts'
import { Executor } from './executor.ts'
import { endProcess } from './fatal.ts'
import { Feed } from './feed.ts'
import { Hooks } from './hooks.ts'
import type { Readiness } from './info.ts'
import { Intake } from './intake.ts'
import { Lease } from './lease.ts'
import { LiveOutputs } from './live-outputs.ts'
import { harmless, type Logger, silentLogger } from './logger.ts'
import { Metrics } from './metrics.ts'
import type { NodeOptions } from './node-options.ts'
import { OpenTasks } from './open-tasks.ts'
import { OtherNodes } from './other-nodes.ts'
import { Owners } from './owners.ts'
import { Questions } from './questions.ts'
import { Reactions } from './reactions.ts'
import { Recovery } from './recovery.ts'
import { agentLimits, type Registry, registryOf } from './registry.ts'
import { Restoration } from './restoration.ts'
import { RetentionKeeper } from './retention.ts'
import { Signals } from './signals.ts'
import { Slots } from './slots.ts'
import { Spawning } from './spawning.ts'
import { onStrayRejection } from './stray-rejections.ts'
import { Strays } from './strays.ts'
import { Supervisor } from './supervisor.ts'
import { type TaskIds, taskIdsOf } from './task-ids.ts'
import { Threads } from './threads.ts'
import { Writer } from './writer.ts'

// Code mostly waits for the network, so many more than there are cores; it bounds what is open at once.
const concurrencyDefault = 256
// Three renewals fit into it, so that one late or failed renewal costs a node nothing.
const leaseMsDefault = 15_000
// Enough to clean up after a request that was cut off; who cancelled is not kept waiting for longer.
const graceMsDefault = 5_000

/** One node: the parts of the runtime, put together around a store. Its public face is the Runtime. */
export class Node {
  readonly id = `node_${randomUUID()}`
  readonly store: Store
  readonly clock: Clock
  readonly limits: Limits
  readonly log: Logger
  readonly ambient = new Ambient()
  readonly signals = new Signals()
  readonly metrics: Metrics
  readonly owners: Owners
  readonly feed: Feed
  readonly writer: Writer
  readonly executor: Executor
  readonly outputs = new LiveOutputs(this)
  readonly spawning: Spawning
  readonly intake: Intake
  readonly restoration: Restoration
  readonly questions: Questions
  readonly retention: RetentionKeeper
  readonly #agents: Registry
  readonly #closures = new Closures()
  readonly #ids: TaskIds
  readonly #slots: Slots
  readonly #openTasks: OpenTasks
  readonly #metricsText: (() => Promise<string>) | undefined
  readonly #dispatcher: Dispatcher
  readonly #supervisor: Supervisor
  readonly #others: OtherNodes | undefined
  #isDraining = false
  #closing: Promise<void> | undefined
  #stopListening: (() => void)[] = []

  static async open(store: Store, options: NodeOptions): Promise<Node> {
    checkOptions(options)
    await store.open()
    return await Node.#opened(store, options)
  }

  static async #opened(store: Store, options: NodeOptions): Promise<Node> {
    let node: Node | undefined
    try {
      node = new Node(store, options)
      await node.#start()
      return node
    } catch (error) {
      if (node) node.#stop()
      await store.close()
      throw error
    }
  }

  private constructor(store: Store, options: NodeOptions) {
    this.store = store
    this.clock = options.clock ?? systemClock
    this.limits = { ...defaultLimits, ...options.limits }
    this.log = harmless(options.log ?? silentLogger)
    this.#metricsText = options.metrics?.text?.bind(options.metrics)
    this.metrics = new Metrics(options.metrics?.meter)
    this.#openTasks = new OpenTasks(this.limits.openTasksPerPrincipal)
    this.owners = new Owners(options.inbox, this.log)
    this.feed = new Feed(store, this.metrics, this.clock)
    this.#agents = registryOf(options.agents ?? {})
    this.#ids = taskIdsOf(store, options.ids)
    this.#slots = this.#newSlots(options)
    const { id: node, clock, limits, log, ambient, signals, metrics, owners, feed } = this
    const [agents, closures, slots, openTasks] = [this.#agents, this.#closures, this.#slots, this.#openTasks]
    const checkOpen = () => this.#checkOpen()
    const writer = new Writer({
      store,
      clock,
      log,
      metrics,
      threads: new Threads(store),
      around: this.#surroundings(options.onEnded !== undefined),
      onCommitted: (unit, verdict) => {
        openTasks.committed(unit)
        reactions.committed(unit, verdict)
        this.#others?.committed(unit, verdict)
      },
      // A clock that is moved by hand would have to be moved for every end.
      ...(clock === systemClock && { company: new Company(clock) }),
      onFatal: options.onFatal ?? endProcess,
    })
    const executor = new Executor({
      writer,
      clock,
      log,
      ambient,
      metrics,
      limits,
      agents,
      closures,
      slots,
      graceMs: options.graceMs ?? graceMsDefault,
      storeClock: store.clock,
      context: (execution) => new TaskContext(contextParts, execution),
    })
    const spawning = new Spawning({ store, writer, ambient, limits, agents, closures, owners, openTasks, checkOpen })
    const contextParts = { store, writer, clock, log, ambient, signals, owners, spawning, limits }
    const later = { dispatcher: () => this.#dispatcher }
    const recovery = new Recovery({ store, writer, slots, log, agents, clock, onRested: () => this.#dispatcher.poke() })
    const hooks = new Hooks({ store, writer, clock, log, metrics, ambient, onEnded: options.onEnded })
    const reactions = new Reactions({ feed, executor, closures, recovery, signals, metrics, owners, hooks, ...later })
    const lease = new Lease({ store, clock, log, node, leaseMs: options.leaseMs ?? leaseMsDefault })
    const dispatcher = new Dispatcher({ ...contextParts, slots, node, agents, closures, openTasks, lease, recovery })
    const questions = new Questions({ store, writer, limits })
    const retention = new RetentionKeeper({ store, writer, hooks, log, policy: options.retention, checkOpen })
    this.#dispatcher = dispatcher
    this.#others = store.isShared ? new OtherNodes({ ...contextParts, executor, feed }) : undefined
    const strays = new Strays({ ...contextParts, executor, recovery, closures, node })
    const tended = { ...contextParts, executor, dispatcher, recovery, strays, questions, retention, hooks, lease }
    this.#supervisor = new Supervisor({ ...tended, others: this.#others })
    this.questions = questions
    this.retention = retention
    this.writer = writer
    this.executor = executor
    this.spawning = spawning
    this.intake = new Intake({ store, writer, limits, agents, openTasks, checkOpen })
    const reserveIds = (ids: readonly TaskId[]) => this.#ids.reserve(ids)
    this.restoration = new Restoration({ store, writer, limits, checkOpen, reserveIds })
  }

  get agents(): Registry {
    return this.#agents
  }

  /** Whether other nodes held a lease at the last count. */
  get hasOthers(): boolean {
    return this.#dispatcher.waiting.nodes > 1
  }

  get readiness(): Readiness {
    const [isDraining, isStoreUp] = [this.#isDraining, !this.writer.isDown && !this.#supervisor.isDoubted]
    return { isReady: isStoreUp && !isDraining, isDraining, isStoreUp }
  }

  /** What was counted, where the metrics can be read. */
  async metricsText(): Promise<string | undefined> {
    return this.#metricsText?.()
  }

  async #start(): Promise<void> {
    const stopWatching = this.store.watch((key, isChanged, row) => this.#onHint(key, isChanged, row))
    const stopHearing = onStrayRejection((reason) => this.#claimRejection(reason))
    this.#stopListening = [stopWatching, stopHearing]
    this.metrics.observe({
      queueDepth: () => this.#dispatcher.waiting.pending,
      unclaimableTasks: () => this.#dispatcher.waiting.unclaimable,
      streams: () => this.feed.streamCount,
      owedHooks: () => this.#dispatcher.waiting.owedHooks,
      nodes: () => this.#dispatcher.waiting.nodes,
      storeBytes: () => this.#dispatcher.waiting.bytes,
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
    this.#stop()
    await this.store.close().finally(() => this.signals.close())
  }

  #stop(): void {
    for (const stop of this.#stopListening) stop()
    this.metrics.close()
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

  #newSlots({ concurrency = concurrencyDefault }: NodeOptions): Slots {
    const places = new AgentPlaces(agentLimits(this.#agents, this.limits))
    return new Slots(concurrency, () => this.#dispatcher.pokeForSlot(), places)
  }

  #surroundings(hasHook: boolean): BatchSurroundings {
    return {
      node: this.id,
      limits: this.limits,
      hasHook,
      newTaskId: () => this.#ids.take(),
      versionOf: (name) => (name === undefined ? undefined : this.#agents.get(name)?.version),
      takeSlot: (task) => {
        const canRun = task.closure ?? (task.agent !== undefined && this.#agents.has(task.agent))
        // What has a limit is started in the order of acceptance, by claims, in which nodes tell each other what they execute.
        if (!canRun || this.#isDraining || this.#slots.places.isLimited(task.agent)) return false
        return this.#slots.tryTake()
      },
      decided: (unit) => this.#openTasks.decided(unit),
      giveBack: ({ ids, slotCount, unit, areIdsSpent }) => {
        if (unit) this.#openTasks.withdrawn(unit)
        for (const id of ids) {
          this.#closures.drop(id)
          this.owners.drop(id)
        }
        if (!areIdsSpent) this.#ids.putBack(ids)
        else if (ids.length > 0) this.#ids.giveUp()
        for (let i = 0; i < slotCount; i++) this.#slots.give()
      },
      refillTaskIds: (count) => this.#ids.refill(count),
    }
  }

  /** Another node may have written to a thread. */
  #onHint(key: ThreadKey, isChanged: boolean, row: EventRow | undefined): void {
    this.#others?.hint(key, isChanged, row)
    if (isChanged) this.#dispatcher.pokeSoon()
  }

  /** A rejection that nobody handles fails the task whose code it comes from; that of a hook fails nothing. */
  #claimRejection(reason: unknown): boolean {
    const { task, isHook } = this.ambient.scope ?? {}
    if (isHook) {
      this.log.warn({ err: reason }, 'a rejection that nobody handled came from onEnded')
      return true
    }
    if (task === undefined) return false
    const execution = this.executor.get(task)
    if (execution?.isClosed === false) this.executor.fail(execution, reason)
    else this.log.warn({ task, err: reason }, 'a rejection that nobody handled came from a task that has ended')
    return true
  }
}
