import type { Meter } from '@opentelemetry/api'
import type { Inbox } from '../core/inbox.ts'
import type { Limits } from '../core/limits.ts'
import type { Retention } from '../core/retention.ts'
import type { Store } from '../stores/store.ts'
import type { Agents } from './agent.ts'
import type { Clock } from './clock.ts'
import type { OnEnded } from './hooks.ts'
import type { Logger } from './logger.ts'

/** Where the runtime counts, by the OpenTelemetry API, and how that is read, where it can be. */
export interface MetricsPort {
  readonly meter: Meter
  /** All that was counted, as text of Prometheus. */
  text?(): Promise<string>
}

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
  /** What is removed by itself, about once a minute; nothing unless given. */
  readonly retention?: Retention
  /**
   * Called for every task that ends, at least once, from the store: also for what ended in a process that is gone. Retried for
   * about three days when it fails. Nothing waits for it.
   */
  readonly onEnded?: OnEnded
  /** The owner inbox of tasks that were not spawned with one of their own. */
  readonly inbox?: Inbox
  /** The meter that the OpenTelemetry API gives, unless given. */
  readonly metrics?: MetricsPort
  /** Called when the store cannot tell what is on the disk. Ends the process unless given. */
  readonly onFatal?: (error: unknown) => void
}

/** How a runtime works. Each has a default that suits a program on one machine. */
export interface RuntimeOptions extends NodeOptions {
  /** How long `close` lets tasks finish before they are handed over. */
  readonly shutdownMs?: number
}

/** Opens the store when first needed; what it rejects with, every call rejects with. */
export type OpenStore = () => Promise<Store>
