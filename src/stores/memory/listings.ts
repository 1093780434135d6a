import { HoldfastError } from '../../core/errors.ts'
import { threadKey, threadOf } from '../../core/id.ts'
import type { TaskRecord } from '../../core/task.ts'
import type { TaskPage, TaskQuery, ThreadPage, ThreadQuery } from '../store.ts'
import { lowerBound } from './sorted-index.ts'
import {
  byEnd,
  compareEnds,
  type EndPosition,
  endPosition,
  headOf,
  type Tables,
  type TaskRow,
  type ThreadRow,
} from './tables.ts'

export function listTasks(tables: Tables, query: TaskQuery): TaskPage {
  const matches = ({ record }: TaskRow) => isAskedFor(record, query)
  const { found, hasMore } = query.untaken
    ? take(untakenAfter(tables, query), matches, query.limit)
    : take(acceptedBefore(tables, query), matches, query.limit)
  const last = found.at(-1)
  const tasks = found.map((row) => row.record)
  if (!hasMore || !last) return { tasks }
  return { tasks, cursor: query.untaken ? endPosition(last).join('.') : String(last.ordinal) }
}

function isAskedFor(record: TaskRecord, query: TaskQuery): boolean {
  const { status, type, name, parent } = query
  if (status && !status.includes(record.status)) return false
  if (type && !type.includes(record.type)) return false
  if (name !== undefined && record.name !== name) return false
  return parent === undefined || record.parent?.task === parent
}

function* acceptedBefore(tables: Tables, query: TaskQuery): Iterable<TaskRow> {
  const { byThread, byPrincipal } = tables.accepted
  const { principal, thread, cursor } = query
  const rows = thread === undefined ? byPrincipal.group(principal) : byThread.group(threadKey(principal, thread))
  const before = cursor === undefined ? Number.POSITIVE_INFINITY : parseNumbers(cursor, 1)[0]
  for (let i = lowerBound(rows, (row) => row.ordinal - before) - 1; i >= 0; i--) {
    const row = rows[i]
    if (row) yield row
  }
}

function* untakenAfter(tables: Tables, query: TaskQuery): Iterable<TaskRow> {
  const { principal, thread, cursor } = query
  const after = cursor === undefined ? undefined : parseNumbers(cursor, 3)
  const rows =
    thread === undefined
      ? (tables.threadsOf.get(principal) ?? []).flatMap(({ key }) => tables.changing.untaken.group(key)).sort(byEnd)
      : tables.changing.untaken.group(threadKey(principal, thread))
  const begin = after ? lowerBound(rows, (row) => compareEnds(endPosition(row), after) || -1) : 0
  for (let i = begin; i < rows.length; i++) {
    const row = rows[i]
    if (row) yield row
  }
}

export function listThreads(tables: Tables, query: ThreadQuery): ThreadPage {
  const after = query.cursor === undefined ? undefined : parseThreadCursor(query.cursor)
  const used = (tables.threadsOf.get(query.principal) ?? []).filter((row) => row.events.length > 0)
  const rows = used.sort((a, b) => newestFirst(position(a), position(b)))
  const { found, hasMore } = take(rows, (row) => !after || newestFirst(position(row), after) > 0, query.limit)
  const threads = found.map((row) => ({ thread: threadOf(row.key), head: headOf(row), first: row.first, at: row.at }))
  const last = found.at(-1)
  if (!hasMore || !last) return { threads }
  return { threads, cursor: `${last.at}/${threadOf(last.key)}` }
}

interface ThreadPosition {
  readonly at: number
  readonly thread: string
}

function position({ at, key }: ThreadRow): ThreadPosition {
  return { at, thread: threadOf(key) }
}

function newestFirst(a: ThreadPosition, b: ThreadPosition): number {
  if (a.at !== b.at) return b.at - a.at
  return a.thread < b.thread ? -1 : Number(a.thread > b.thread)
}

/** Looks one further than the page, because a cursor is given only if something follows. */
function take<Row>(
  rows: Iterable<Row>,
  matches: (row: Row) => boolean,
  limit: number,
): { found: Row[]; hasMore: boolean } {
  const found: Row[] = []
  for (const row of rows) {
    if (!matches(row)) continue
    if (found.length === limit) return { found, hasMore: true }
    found.push(row)
  }
  return { found, hasMore: false }
}

function parseNumbers(cursor: string, count: 1): readonly [number]
function parseNumbers(cursor: string, count: 3): EndPosition
function parseNumbers(cursor: string, count: 1 | 3): readonly number[] {
  const parts = cursor.split('.')
  if (parts.length !== count || !parts.every((part) => /^[0-9]{1,16}$/.test(part))) throw badCursor()
  return parts.map(Number)
}

function parseThreadCursor(cursor: string): ThreadPosition {
  const parts = /^([0-9]{1,16})\/(.+)$/.exec(cursor)
  if (parts?.[1] === undefined || parts[2] === undefined) throw badCursor()
  return { at: Number(parts[1]), thread: parts[2] }
}

function badCursor(): HoldfastError {
  return new HoldfastError('invalid_request', 'The cursor is not one that a page of this list gave: begin without one')
}
