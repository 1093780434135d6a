import { HoldfastError } from '../../core/errors.ts'
import { type Principal, principalOf, threadKey, threadOf } from '../../core/id.ts'
import { countWithin, withoutLong } from '../../core/shown-record.ts'
import type { TaskRecord } from '../../core/task.ts'
import type { OwedQuery, TaskPage, TaskQuery, ThreadPage, ThreadQuery } from '../store.ts'
import { lowerBound } from './sorted-index.ts'
import {
  bodiesLength,
  byEnd,
  compareEnds,
  type EndPosition,
  endPosition,
  everybody,
  headOf,
  type Tables,
  type TaskRow,
  type ThreadRow,
} from './tables.ts'

export function listTasks(tables: Tables, query: TaskQuery | OwedQuery): TaskPage {
  return 'owedBy' in query ? listOwed(tables, query) : listOwn(tables, query)
}

function listOwed({ changing }: Tables, { owedBy, key, limit }: OwedQuery): TaskPage {
  const rows = key === undefined ? changing.owed.group(everybody) : changing.owedOfThread.group(key)
  const due = lowerBound(rows, ({ record }) => ((record.hook?.nextAt ?? 0) <= owedBy ? -1 : 1))
  return { tasks: rows.slice(0, Math.min(due, limit)).map((row) => row.record) }
}

function listOwn(tables: Tables, query: TaskQuery): TaskPage {
  const matches = ({ record }: TaskRow) => isAskedFor(record, query)
  const { found, hasMore } = query.untaken
    ? take(untakenAfter(tables, query), matches, query.limit)
    : take(acceptedBefore(tables, query), matches, query.limit)
  const { bytesMax = Number.POSITIVE_INFINITY, resultBytesMax = Number.POSITIVE_INFINITY } = query
  const shown = found.slice(0, Math.max(1, countWithin(found.map(bodiesLength), bytesMax)))
  const resultLengths = shown.map(({ record }) => record.result?.length ?? 0)
  const whole = countWithin(resultLengths, resultBytesMax)
  const tasks = shown.map(({ record }, n) => (n < whole ? record : withoutLong(record, 'result')))
  const last = shown.at(-1)
  if ((!hasMore && shown.length === found.length) || !last) return { tasks }
  return { tasks, cursor: query.untaken ? endPosition(last).join('.') : String(last.ordinal) }
}

function isAskedFor(record: TaskRecord, query: TaskQuery): boolean {
  const { status, type, name, parent, roots } = query
  if (status && !status.includes(record.status)) return false
  if (type && !type.includes(record.type)) return false
  if (name !== undefined && record.name !== name) return false
  if (roots && record.parent?.task !== undefined) return false
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
  const { principal, cursor, limit } = query
  const isOfAll = principal === undefined
  const after = cursor === undefined ? undefined : parseThreadCursor(principal, cursor)
  const owned = isOfAll ? [...tables.threadsOf.values()].flat() : (tables.threadsOf.get(principal) ?? [])
  const places = owned.filter((row) => row.events.length > 0).map(placeOf)
  const { found, hasMore } = take(places.sort(inOrder), (place) => !after || inOrder(place, after) > 0, limit)
  const threads = found.map(({ row, at, thread, ...whose }) => {
    return { ...(isOfAll && whose), thread, head: headOf(row), first: row.first, at }
  })
  const last = found.at(-1)
  if (!hasMore || !last) return { threads }
  const within = `${last.at}/${last.thread}`
  return { threads, cursor: isOfAll ? `${last.principal}/${within}` : within }
}

interface ThreadPlace {
  readonly principal: Principal
  readonly at: number
  readonly thread: string
}

function placeOf(row: ThreadRow) {
  return { row, principal: principalOf(row.key), at: row.at, thread: threadOf(row.key) }
}

/** By principal, then the newest first. */
function inOrder(a: ThreadPlace, b: ThreadPlace): number {
  return compareTexts(a.principal, b.principal) || b.at - a.at || compareTexts(a.thread, b.thread)
}

function compareTexts(a: string, b: string): number {
  return a < b ? -1 : Number(a > b)
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

function parseThreadCursor(principal: Principal | undefined, cursor: string): ThreadPlace {
  const parts = /^(?:([^/]+)\/)?([0-9]{1,16})\/([^/]+)$/.exec(cursor)
  const owner = principal ?? parts?.[1]
  if (owner === undefined || parts?.[2] === undefined || parts[3] === undefined) throw badCursor()
  return { principal: owner as Principal, at: Number(parts[2]), thread: parts[3] }
}

function badCursor(): HoldfastError {
  return new HoldfastError('invalid_request', 'The cursor is not one that a page of this list gave: begin without one')
}
