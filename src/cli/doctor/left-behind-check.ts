import { type Check, note, ok } from './check.ts'

interface AgentTasks {
  readonly agent: string
  readonly count: number
}

interface FileUse {
  readonly isHeld: boolean
  /** By node; absent of a store that was not read, or that several nodes have. */
  readonly executing?: readonly (AgentTasks & { readonly node: string })[]
}

/** `: 2 of gone, 1 of script`. */
export function countedByAgent(tasks: readonly AgentTasks[]): string {
  if (tasks.length === 0) return ''
  return `: ${tasks.map(({ agent, count }) => `${count} of ${agent}`).join(', ')}`
}

/** Who answers where clients look for a server, and on what kind of store. */
interface Answering {
  readonly node?: string
  readonly store?: string
}

/**
 * What was executed by a server that is gone, of a store that one server has at a time: by all but the one that has it. That is the
 * one that answers if it executes some of it; else it may be another, of which nothing is known.
 */
export function leftBehindChecks({ executing, isHeld }: FileUse, { node, store }: Answering): Check[] {
  if (!executing) return []
  const left = byAgent(executing.filter((each) => !isHeld || each.node !== node))
  const count = left.reduce((sum, each) => sum + each.count, 0)
  if (count === 0) return [ok('tasks', 'None was left behind')]
  const belong = `${count} ${count === 1 ? 'task belongs' : 'tasks belong'}`
  const gone = `${belong} to a server that is gone${countedByAgent(left)}`
  if (!isHeld) return [note('tasks', gone, 'The next start goes on with those whose agents it has')]
  if (executing.some((each) => each.node === node)) {
    const advice = 'The one that runs goes on with them within seconds; if not, put these agents into its config file'
    return [note('tasks', gone, advice)]
  }
  if (store !== 'sqlite') return []
  const finding = `${belong} to another server than the one that answers${countedByAgent(left)}`
  const advice = 'If the one that answers has this store open, the other is gone: put these agents into its config file'
  return [note('tasks', finding, advice)]
}

/** The most first. */
function byAgent(tasks: readonly AgentTasks[]): AgentTasks[] {
  const counts = new Map<string, number>()
  for (const { agent, count } of tasks) counts.set(agent, (counts.get(agent) ?? 0) + count)
  return [...counts].map(([agent, count]) => ({ agent, count })).toSorted((a, b) => b.count - a.count)
}
