import type { Principal, TaskId, ThreadKey } from '../core/id.ts'

/** What a node asks for work with. */
export interface ClaimQuery {
  readonly node: string
  readonly agents: readonly string[]
  /** At most this many tasks to start. */
  readonly starts: number
  /** At most this many orphans: those of the agents, and those of any agent that can only be ended (`isOver` of core). */
  readonly orphans: number
  /** Threads of which nothing is offered: the node could decide nothing in them just now, and others are not to wait for that. */
  readonly except?: readonly ThreadKey[]
  /** Orphans that are not offered: the node could not read them just now. */
  readonly exceptTasks?: readonly TaskId[]
  /**
   * Tasks that came to wait by this node's own commits a moment ago. If it is given, a store that nodes share leaves what was accepted
   * in the last `headStartMs` to the node that has it among these: it has just written to the thread and need not read it, as every
   * other one would. Where agents have limits it is heeded by none: they go in the order of acceptance.
   */
  readonly own?: readonly TaskId[]
  /**
   * All that this node executes or has taken over. If it is given, only strays are offered, as orphans, of whatever agent: what the
   * store has under this node and is not among these.
   */
  readonly executing?: readonly TaskId[]
  /** Of the agents that have a limit. */
  readonly limits?: ReadonlyMap<string, AgentLimit>
  /** Count what waits and what is open as well: for metrics and limits, too dear for every claim. */
  readonly withCounts: boolean
  /** With the counts, tell what the store takes on its disk as well, where that is too dear for every count. */
  readonly withBytes?: boolean
}

// Longer than a node takes to start what it has a slot for, and little beside what else whoever waits for a slot waits for.
export const headStartMs = 50

export interface AgentLimit {
  /** How many of its tasks all nodes may execute at once. */
  readonly max: number
  /** How many this node executes. */
  readonly executing: number
}

/** What it is offered. */
export interface Offer {
  readonly starts: readonly TaskRef[]
  readonly orphans: readonly TaskRef[]
  /** There is more that may start, and it was being written to: a look a moment later may find it. */
  readonly isPartial?: true
  /** There is more that may start, and it is left to another node for a moment. */
  readonly hasLeft?: true
  /** Of agents with a limit: how many of their tasks other nodes execute. */
  readonly elsewhere?: ReadonlyMap<string, number>
  readonly counts?: {
    readonly pending: number
    /** Pending tasks that may start, and orphans that could go on, but whose agent this node does not have. */
    readonly unclaimable: number
    /** Tasks that have not ended; principals that have none are not in it. */
    readonly openByPrincipal: ReadonlyMap<Principal, number>
    /** Ended tasks for which a call of `onEnded` is owed, due or not. */
    readonly owedHooks: number
    /** Nodes that hold a lease. */
    readonly nodes: number
    /** What the store takes on its disk, where that can be told; it may be left out unless it was asked for. */
    readonly bytes?: number
  }
}

/** A task that a node may start or take over. */
export interface TaskRef {
  readonly id: TaskId
  readonly key: ThreadKey
  /** Its agent, which executes it once it is started or taken over; none if it can only be ended (`isOver` of core). */
  readonly agent?: string
}
