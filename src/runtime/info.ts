import type { Limits } from '../core/limits.ts'
import type { Store } from '../stores/store.ts'
import type { Agent } from './agent.ts'
import { agentLimits, type Registry } from './registry.ts'
import { jsonSchemaOf } from './standard-schema.ts'

/** What a runtime is, which does not change while it is open. */
export interface RuntimeInfo {
  /** The id of this node, as `task.started` names it. */
  readonly node: string
  readonly store: Pick<Store, 'kind' | 'isDurable'>
  readonly limits: Limits
}

/** Whether new work is accepted now, and if not, why. */
export interface Readiness {
  readonly isReady: boolean
  readonly isDraining: boolean
  readonly isStoreUp: boolean
}

/** A registered agent, as others are told of it. */
export interface AgentSummary extends Pick<Agent, 'description' | 'version' | 'inputSchema' | 'isSpawnable'> {
  readonly name: string
  /** How much of its code runs at once, over all nodes: its own, else `limits.executingTasksPerAgent`. Absent if not limited. */
  readonly concurrency?: number
}

export function infoOf({ id, store, limits }: { id: string; store: Store; limits: Limits }): RuntimeInfo {
  return { node: id, store: { kind: store.kind, isDurable: store.isDurable }, limits: { ...limits } }
}

/** The agents in the order of their registration. */
export function summariesOf({ agents, limits }: { agents: Registry; limits: Limits }): AgentSummary[] {
  const maxOf = agentLimits(agents, limits)
  return [...agents].map(([name, agent]) => {
    const { description, version, input, isSpawnable } = agent
    const concurrency = maxOf.get(name)
    const inputSchema = agent.inputSchema ?? (input && jsonSchemaOf(input))
    return {
      name,
      ...(description !== undefined && { description }),
      ...(version !== undefined && { version }),
      ...(inputSchema !== undefined && { inputSchema }),
      ...(concurrency !== undefined && { concurrency }),
      ...(isSpawnable === false && { isSpawnable }),
    }
  })
}
