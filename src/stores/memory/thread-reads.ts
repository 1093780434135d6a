import type { StoredEvent } from '../../core/event.ts'
import { principalOf, type TaskId, type ThreadKey, threadOf } from '../../core/id.ts'
import { isAwaited, type LivePart } from '../../core/live-part.ts'
import type { Message, Part } from '../../core/message.ts'
import { countWithin, withoutLong } from '../../core/shown-record.ts'
import { isTerminal } from '../../core/status.ts'
import type { TaskRecord } from '../../core/task.ts'
import type { Mail } from '../../core/unit.ts'
import type {
  EventPage,
  EventQuery,
  MessagePage,
  MessageQuery,
  SnapshotLimits,
  SnapshotRecords,
  ThreadPlace,
} from '../store.ts'
import { listQuestions, untakenQuestions } from './question-table.ts'
import { lowerBound } from './sorted-index.ts'
import { bodiesLength, byEnd, byOrdinal, headOf, type MessageRow, pair, type Tables, type TaskRow } from './tables.ts'

export function readLivePart(tables: Tables, key: ThreadKey): LivePart | undefined {
  const thread = tables.threads.get(key)
  if (!thread) return undefined
  const tasks = tables.changing.live.group(key).map((row) => row.record)
  const { rev, wakes } = thread
  return {
    key,
    rev,
    wakes,
    tasks,
    ended: awaitedEnds(tables, key, tasks),
    mail: unreadMail(tables, key, tasks),
    questions: untakenQuestions(tables.questions, key, isLiveIn(tables)),
  }
}

/** Tells whether a task has not ended. */
export function isLiveIn(tables: Tables): (task: TaskId) => boolean {
  return (id) => {
    const record = tables.tasks.get(id)?.record
    return record !== undefined && !isTerminal(record.status)
  }
}

/** Asks the live tasks for their ended children instead of the ended tasks for their parents, which may be any number. */
function awaitedEnds(tables: Tables, key: ThreadKey, live: readonly TaskRecord[]): TaskRecord[] {
  const { wakers, endedChildren } = tables.changing
  const ids = new Set(live.map((task) => task.id))
  const rows = new Set<TaskRow>(wakers.group(key))
  for (const id of ids) for (const row of endedChildren.group(pair(key, id))) rows.add(row)
  const awaited = [...rows].filter((row) => isAwaited(row.record, (id) => ids.has(id)))
  return awaited.sort(byEnd).map((row) => row.record)
}

function unreadMail(tables: Tables, key: ThreadKey, live: readonly TaskRecord[]): Mail[] {
  const rows = live.flatMap((task) => tables.mail.group(pair(key, task.id)))
  return rows.sort((a, b) => a.mail.place - b.mail.place || byOrdinal(a, b)).map((row) => row.mail)
}

export function readSnapshot(tables: Tables, key: ThreadKey, limits: SnapshotLimits): SnapshotRecords | undefined {
  const thread = tables.threads.get(key)
  if (!thread) return undefined
  const live = tables.changing.live.group(key)
  const ended = lastOf(tables.changing.ended.group(key), limits.endedTasks)
  const { bytesMax = Number.POSITIVE_INFINITY } = limits
  const whole = countWithin(ended.map(bodiesLength).reverse(), bytesMax)
  const early = new Set(ended.slice(0, ended.length - whole))
  const tasks = [...live, ...ended]
    .sort(byOrdinal)
    .map((row) => (early.has(row) ? withoutLong(row.record, 'input', 'result') : row.record))
  const { messages } = readMessages(tables, key, { limit: limits.messages, fromEnd: true, bytesMax })
  const owned = { principal: principalOf(key), thread: threadOf(key) }
  const questions = listQuestions(tables.questions, owned, isLiveIn(tables))
  return { head: headOf(thread), first: thread.first, messages, tasks, questions }
}

export function readEvents(tables: Tables, key: ThreadKey, query: EventQuery): EventPage {
  const thread = tables.threads.get(key)
  if (!thread) return { head: 0, first: 1, events: [], upTo: 0 }
  const { after, limit, task, types } = query
  const { first } = thread
  const head = headOf(thread)
  const last = Math.min(head, task?.last ?? head)
  const events: StoredEvent[] = []
  let seq = Math.max(after + 1, first, task?.first ?? first)
  for (; seq <= last && events.length < limit; seq++) {
    const event = thread.events[seq - first]
    if (event && (!task || event.task === task.id) && (!types || types.includes(event.type))) events.push(event)
  }
  const upTo = seq <= last ? seq - 1 : Math.min(head, Math.max(after, last))
  return { head, first, events, upTo }
}

export function readMessages(tables: Tables, key: ThreadKey, query: MessageQuery): MessagePage {
  const rows = tables.messages.group(key)
  const begin = query.after === undefined ? 0 : positionAfter(rows, query.after)
  const end = query.upTo === undefined ? rows.length : positionAfter(rows, query.upTo)
  const matching = rows.slice(begin, Math.max(begin, end))
  const { fromEnd, limit, bytesMax = Number.POSITIVE_INFINITY } = query
  const page = fromEnd ? lastOf(matching, limit).toReversed() : matching.slice(0, limit)
  const lengths = page.map(({ put }) => put.parts.length)
  const shown = page.slice(0, Math.max(1, countWithin(lengths, bytesMax)))
  const last = shown.at(-1)
  if (fromEnd) shown.reverse()
  const hasMore = shown.length < matching.length
  return { messages: shown.map(toMessage), ...(last && hasMore && !fromEnd && { cursor: last.seq }) }
}

export function readMoved(tables: Tables, places: readonly ThreadPlace[]): ThreadPlace[] {
  return places.flatMap(({ key, head, rev }) => {
    const thread = tables.threads.get(key)
    const now = { key, head: thread ? headOf(thread) : 0, rev: thread?.rev ?? 0 }
    return now.head === head && now.rev === rev ? [] : [now]
  })
}

function positionAfter(rows: readonly MessageRow[], seq: number): number {
  return lowerBound(rows, (row) => row.seq - (seq + 1))
}

function toMessage({ key, put, seq, at }: MessageRow): Message {
  const { id, role, finish, task } = put
  const parts = JSON.parse(put.parts) as Part[]
  return {
    id,
    thread: threadOf(key),
    seq,
    role,
    parts,
    ...(finish !== undefined && { finish }),
    ...(task !== undefined && { task }),
    at,
  }
}

function lastOf<Row>(rows: readonly Row[], count: number): readonly Row[] {
  return rows.slice(Math.max(0, rows.length - count))
}
