import { type Event, isEmitted } from '../../core/event.ts'
import type { Case } from '../history/case.ts'
import { byTask } from '../history/case.ts'

/** A promise that was broken: which, how, and the lines of the history that show it. */
export interface Violation {
  /** As in `docs/guarantees.md`: `G1` to `G19`. */
  readonly promise: string
  readonly what: string
  readonly witness: readonly string[]
}

export type Check = (found: Case) => Iterable<Violation>

export function broken(promise: string, what: string, witness: readonly unknown[] = []): Violation {
  const lines = witness.filter((line) => line !== undefined)
  return { promise, what, witness: lines.map((line) => (typeof line === 'string' ? line : JSON.stringify(line))) }
}

/** What a task did, without what its agent said: enough to see its life. */
export function lifeOf(found: Case, task: string): string[] {
  const home = found.threads.get(found.homes.get(task) ?? '')
  const events = home ? (byTask(home).get(task) ?? []) : []
  return events.filter((event) => !isEmitted(event)).map(lineOf)
}

export function lineOf({ seq, task, type, epoch, data }: Event): string {
  const more = type === 'task.started' || type === 'task.resumed' ? ` attempt ${data.attempt} on ${data.node}` : ''
  return `${seq} ${type} ${task ?? ''}${epoch === undefined ? '' : ` epoch ${epoch}`}${more}`
}
