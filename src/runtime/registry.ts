import { HoldfastError } from '../core/errors.ts'
import type { Agent, Agents } from './agent.ts'

/** The agents that this node can run, by name. */
export type Registry = ReadonlyMap<string, Agent>

export function registryOf(agents: Agents): Registry {
  const entries = Object.entries(agents).map(
    ([name, agent]) => [name, typeof agent === 'function' ? { run: agent } : checked(name, agent)] as const,
  )
  return new Map(entries)
}

function checked(name: string, agent: Agent): Agent {
  if (typeof (agent as Agent | null)?.run === 'function') return agent
  throw new HoldfastError('invalid_request', `The agent ${name} is neither a function nor an object with one named run`)
}

export function checkRegistered(agents: Registry, name: string): void {
  if (agents.has(name)) return
  throw new HoldfastError('unknown_agent', `No agent named ${JSON.stringify(name)} is registered`)
}
