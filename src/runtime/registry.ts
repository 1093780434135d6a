import { HoldfastError } from '../core/errors.ts'
import type { Agent, Agents } from './agent.ts'

/** The agents that this node can run, by name. */
export type Registry = ReadonlyMap<string, Agent>

export function registryOf(agents: Agents): Registry {
  const entries = Object.entries(agents).map(
    ([name, agent]) => [name, typeof agent === 'function' ? { run: agent } : agent] as const,
  )
  return new Map(entries)
}

export function checkRegistered(agents: Registry, name: string): void {
  if (agents.has(name)) return
  throw new HoldfastError('unknown_agent', `No agent named ${JSON.stringify(name)} is registered`)
}
