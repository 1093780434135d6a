import type { Inbox } from '../core/inbox.ts'
import type { Limits } from '../core/limits.ts'
import type { Agents } from './agent.ts'
import type { Clock } from './clock.ts'
import type { Logger } from './logger.ts'

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
