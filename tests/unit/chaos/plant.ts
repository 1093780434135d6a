import type { HistoryEntry } from '../../../src/chaos/history/entry.ts'
import type { Event, Task } from '../../../src/index.ts'
import { type Draft, renumbered, soundDraft } from './sound-history.ts'

/** A bug in words, what has to be complained of, and the history that a server with that bug leaves. */
export type Plant = readonly [title: string, complaint: RegExp, plant: () => Draft]

export const home = 'alice/t0'

/** With the log changed and numbered anew, as a server would that is wrong from the start. */
export function withLog(change: (log: Event[]) => Event[]): Draft {
  const draft = soundDraft()
  return renumbered(draft, change(draft.logs[home] ?? []))
}

export function withTask(id: string, change: (task: Task) => Partial<Task>): Draft {
  const draft = soundDraft()
  const task = draft.tasks.get(id) as Task
  draft.tasks.set(id, { ...task, ...change(task) })
  return draft
}

export function withEntries(change: (entry: HistoryEntry) => HistoryEntry[]): Draft {
  const draft = soundDraft()
  return { ...draft, entries: draft.entries.flatMap(change) }
}

export function isOf(event: Event, task: string, type: string): boolean {
  return event.task === task && event.type === type
}

/** What stands at one place moved to before another. */
export function moved(
  log: readonly Event[],
  from: (event: Event) => boolean,
  before: (event: Event) => boolean,
): Event[] {
  const taken = log.filter(from)
  return log.filter((event) => !from(event)).flatMap((event) => (before(event) ? [...taken, event] : [event]))
}

export function without(draft: Draft, task: string): Draft {
  draft.tasks.delete(task)
  const log = (draft.logs[home] ?? []).filter((event) => event.task !== task)
  return renumbered(draft, log)
}

export function streamed(change: (entry: Extract<HistoryEntry, { kind: 'stream' }>) => HistoryEntry): Draft {
  return withEntries((entry) => [entry.kind === 'stream' && entry.after === 9 ? change(entry) : entry])
}

/** Another task than the one that it is a copy of. */
export const doubled = { id: 'bg_9' as Task['id'] }
