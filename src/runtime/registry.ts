import { HoldfastError } from '../core/errors.ts'
import { defaultLimits, type Limits } from '../core/limits.ts'
import type { Agent, Agents } from './agent.ts'
import { isStandardSchema } from './standard-schema.ts'

/** The agents that this node can run, by name. */
export type Registry = ReadonlyMap<string, Agent>

export function registryOf(agents: Agents): Registry {
  const entries = Object.entries(agents).map(
    ([name, agent]) => [name, typeof agent === 'function' ? { run: agent } : checked(name, agent)] as const,
  )
  return new Map(entries)
}

function checked(name: string, agent: Agent): Agent {
  if (typeof (agent as Agent | null)?.run !== 'function') {
    throw invalid(`The agent ${name} is neither a function nor an object with one named run`)
  }
  const { concurrency } = agent
  if (concurrency !== undefined && !(Number.isSafeInteger(concurrency) && concurrency >= 1)) {
    throw invalid(`The concurrency of the agent ${name} is a whole number from 1 on`)
  }
  if (agent.input === undefined || isStandardSchema(agent.input)) return agent
  throw invalid(`The input of the agent ${name} is no Standard Schema; give its JSON Schema as inputSchema`)
}

/** How much code of an agent may run at once, of those that have a limit: what it states, else what all are held to. */
export function agentLimits(agents: Registry, { executingTasksPerAgent }: Limits): Map<string, number> {
  const limits = [...agents].map(([name, agent]) => [name, agent.concurrency ?? executingTasksPerAgent] as const)
  return new Map(limits.filter(([, max]) => max < defaultLimits.executingTasksPerAgent))
}

export function checkRegistered(agents: Registry, name: string): void {
  if (agents.has(name)) return
  throw new HoldfastError('unknown_agent', `No agent named ${JSON.stringify(name)} is registered`)
}

function invalid(message: string): HoldfastError {
  return new HoldfastError('invalid_request', message)
}
