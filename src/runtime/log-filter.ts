import { HoldfastError } from '../core/errors.ts'
import { isTerminalEvent } from '../core/event.ts'
import type { TaskId } from '../core/id.ts'

/** What a reader of a log asks for. */
export interface LogFilter {
  /** Only this task's events. */
  readonly task?: TaskId
  /** Only these types. They never hide how `task` ended. */
  readonly types?: ReadonlySet<string>
}

interface Filtered {
  readonly type: string
  readonly task?: TaskId | undefined
}

/** Undefined if everything passes. */
export function filterOf(task: TaskId | undefined, types: ReadonlySet<string> | undefined): LogFilter | undefined {
  if (task === undefined && types === undefined) return undefined
  return { ...(task !== undefined && { task }), ...(types && { types }) }
}

export function passes({ task, types }: LogFilter, entry: Filtered): boolean {
  if (task !== undefined && entry.task !== task) return false
  return types === undefined || types.has(entry.type) || (task !== undefined && isTerminalEvent(entry))
}

/** Whether nothing that passes can follow it. */
export function isLast({ task }: LogFilter, entry: Filtered): boolean {
  return task !== undefined && entry.task === task && isTerminalEvent(entry)
}

/** Types that no event has are no mistake: a reader may be newer than the log. */
export function typeSet(types: readonly string[] | undefined): ReadonlySet<string> | undefined {
  if (types === undefined) return undefined
  if (Array.isArray(types) && types.length > 0 && types.every((type) => typeof type === 'string')) return new Set(types)
  throw new HoldfastError('invalid_request', 'types is a list of one event type or more; leave it out to get all')
}

/** A number that a log can begin after; whether this log can is seen when it is read. */
export function checkedAfter(after = 0): number {
  if (Number.isSafeInteger(after) && after >= 0) return after
  throw new HoldfastError('invalid_request', 'after is a whole number from 0 on')
}

/** Never a silent clamp: a start outside the log is an error that says where the log is. */
export function checkPlace(after: number, log: { readonly head: number; readonly first: number }): void {
  checkGone(after, log)
  if (after <= log.head) return
  throw new HoldfastError('offset_ahead', `The log ends at ${log.head}, before ${after}`, { facts: { head: log.head } })
}

export function checkGone(after: number, { first }: { readonly first: number }): void {
  if (after >= first - 1) return
  throw new HoldfastError('offset_gone', `The log begins at ${first}; what follows ${after} is gone`, {
    facts: { first },
  })
}
