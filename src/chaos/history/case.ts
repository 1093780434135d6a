import type { Event, EventData } from '../../core/event.ts'
import { isEmitted, isTerminalEvent } from '../../core/event.ts'
import type { Message } from '../../core/message.ts'
import type { Task } from '../../core/task.ts'
import type { EntryKind, EntryOf, HistoryEntry, ThreadName } from './entry.ts'

/** A thread as it is at the end. */
export interface ThreadHistory {
  readonly thread: ThreadName
  readonly head: number
  /** The first number that is kept. What is before it was deleted or pruned. */
  readonly first: number
  /** Events by number: `log[0]` is `first`. */
  readonly log: readonly Event[]
  readonly messages: readonly Message[]
  /** Tasks whose results nobody took. */
  readonly untaken: readonly string[]
}

/** A round of a history, ready to be checked. */
export interface Case {
  readonly round: EntryOf<'round'>
  readonly entries: readonly HistoryEntry[]
  readonly threads: ReadonlyMap<ThreadName, ThreadHistory>
  readonly tasks: ReadonlyMap<string, Task>
  /** The thread of each task. */
  readonly homes: ReadonlyMap<string, ThreadName>
  /** How often threads were asked to be deleted, of those that were. */
  readonly deleted: ReadonlyMap<ThreadName, number>
  /** Principals whose threads were asked to be pruned. */
  readonly pruned: ReadonlySet<string>
}

/** Puts the entries of one round in order. The first of them begins it. */
export function caseOf(entries: readonly HistoryEntry[]): Case {
  const [round] = entries
  if (round?.kind !== 'round') throw new Error(`A history begins with a round, not with ${JSON.stringify(round)}`)
  const all = <Kind extends EntryKind>(kind: Kind) => ofKind(entries, kind)
  const logs = Map.groupBy(all('log'), ({ thread }) => thread)
  const threads = all('thread').map(({ thread, head, first, messages, untaken }) => {
    const log = (logs.get(thread) ?? []).flatMap(({ events }) => events)
    return [thread, { thread, head, first, log, messages, untaken }] as const
  })
  const tasks = all('task')
  return {
    round,
    entries: entries.filter(({ kind }) => kind !== 'log' && kind !== 'task' && kind !== 'thread'),
    threads: new Map(threads),
    tasks: new Map(tasks.map(({ task }) => [task.id, task])),
    homes: new Map(tasks.map(({ task, thread }) => [task.id, thread])),
    deleted: countsOf(all('deleting').map(({ thread }) => thread)),
    pruned: new Set(all('pruning').map(({ principal }) => principal)),
  }
}

function countsOf(names: readonly string[]): Map<string, number> {
  const counts = new Map<string, number>()
  for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1)
  return counts
}

// A history is asked for the same over and over: what was once put in order stays so for as long as it is looked at.
const kinds = new WeakMap<Case, Map<EntryKind, HistoryEntry[]>>()
const homes = new WeakMap<Case, Map<ThreadName, Task[]>>()
const tasks = new WeakMap<ThreadHistory, Map<string, Event[]>>()
const types = new WeakMap<ThreadHistory, Map<Event['type'], Event[]>>()

function kept<Owner extends object, Value>(store: WeakMap<Owner, Value>, owner: Owner, make: () => Value): Value {
  const value = store.get(owner) ?? make()
  store.set(owner, value)
  return value
}

export function entriesOf<Kind extends EntryKind>(found: Case, kind: Kind): EntryOf<Kind>[] {
  const all = kept(kinds, found, () => Map.groupBy(found.entries, (entry) => entry.kind))
  return (all.get(kind) ?? []) as EntryOf<Kind>[]
}

function ofKind<Kind extends EntryKind>(entries: readonly HistoryEntry[], kind: Kind): EntryOf<Kind>[] {
  return entries.filter((entry) => entry.kind === kind) as EntryOf<Kind>[]
}

/** The events of each task of a thread, in order. */
export function byTask(thread: ThreadHistory): ReadonlyMap<string, Event[]> {
  const written = () => thread.log.filter((event) => event.task !== undefined)
  return kept(tasks, thread, () => Map.groupBy(written(), (event) => event.task as string))
}

/** The tasks that are there of a thread. */
export function tasksIn(found: Case, thread: ThreadName): readonly Task[] {
  const group = () => Map.groupBy(found.tasks.values(), ({ id }) => found.homes.get(id) ?? '')
  return kept(homes, found, group).get(thread) ?? []
}

/** The events of a type of a thread, in order. */
export function logOf<Type extends Event['type']>(thread: ThreadHistory | undefined, type: Type) {
  if (!thread) return []
  const all = kept(types, thread, () => Map.groupBy(thread.log, (event) => event.type))
  return (all.get(type) ?? []) as Extract<Event, { type: Type }>[]
}

/** Whether the beginning of a task was pruned, so that the rest does not tell all of it. */
export function isTrimmed({ first }: ThreadHistory, events: readonly Event[]): boolean {
  return first > 1 && events[0]?.type !== 'task.accepted'
}

export function ofType<Type extends Event['type']>(events: readonly Event[], type: Type) {
  return events.filter((event) => event.type === type) as Extract<Event, { type: Type }>[]
}

export function endingOf(events: readonly Event[]): Event | undefined {
  return events.find(isTerminalEvent)
}

/** A task's events as a client is to understand them: without what its resumes abandoned. */
export function standingEvents(events: readonly Event[]): Event[] {
  let standing: Event[] = []
  for (const event of events) {
    if (event.type === 'task.resumed') standing = standing.filter((earlier) => !isAbandoned(earlier, event.data))
    standing.push(event)
  }
  return standing
}

function isAbandoned(event: Event, { keep, dropped = [] }: EventData['task.resumed']): boolean {
  if (!isEmitted(event)) return false
  return event.seq > keep || dropped.some(([first, last]) => first <= event.seq && event.seq <= last)
}

/** The payloads of a task's custom events of this name, of those that stand. */
export function customOf(events: readonly Event[], name: string): unknown[] {
  return ofType(standingEvents(events), 'custom')
    .filter(({ data }) => data.name === name)
    .map(({ data }) => data.payload)
}
