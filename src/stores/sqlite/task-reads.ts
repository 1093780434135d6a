import type { SQLInputValue } from 'node:sqlite'
import { type TaskId, threadKey } from '../../core/id.ts'
import { parseNumbers } from '../../core/list-cursor.ts'
import { countWithin } from '../../core/shown-record.ts'
import { statuses } from '../../core/status.ts'
import type { StepRecord } from '../../core/step.ts'
import type { ShownRecord, TaskRecord } from '../../core/task.ts'
import type { OwedQuery, TaskPage, TaskQuery } from '../store.ts'
import type { Connection } from './connection.ts'
import { bytesOf, type SizedRow, selectSized, toShown } from './shown-rows.ts'
import { joinTasks, selectTasks, type TaskRow, toRecord } from './task-row.ts'
import type { StepDoc } from './unit-writes.ts'

const selectTask = `${selectTasks} FROM tasks t ${joinTasks} WHERE t.id = ?`

const selectSteps = 'SELECT n, task, key, value, seq, doc FROM steps INDEXED BY steps_by_key WHERE task = ?'
const selectLastStep = `SELECT n, task, key, value, seq, doc FROM steps
  WHERE n = (SELECT max(n) FROM steps INDEXED BY steps_by_key WHERE task = ?)`

export function readTask(connection: Connection, id: TaskId): TaskRecord | undefined {
  const row = connection.get<TaskRow>(selectTask, id)
  return row && toRecord(row)
}

interface StepRow {
  readonly n: number
  readonly task: TaskId
  readonly key: string
  readonly value: string | null
  readonly seq: number
  readonly doc: string
}

export function readSteps(connection: Connection, id: TaskId, which?: 'last'): StepRecord[] {
  // Sorted here, because SQLite would copy the values, which may be large, to sort them.
  const rows = connection.all<StepRow>(which === 'last' ? selectLastStep : selectSteps, id).sort((a, b) => a.n - b.n)
  return rows.map(({ task, key, value, seq, doc }) => {
    return { task, key, ...(JSON.parse(doc) as StepDoc), ...(value !== null && { value }), seq }
  })
}

export function listTasks(connection: Connection, query: TaskQuery | OwedQuery): TaskPage {
  return 'owedBy' in query ? listOwed(connection, query) : listOwn(connection, query)
}

const selectOwed = (index: string, own: string): string => `${selectTasks}
  FROM tasks t INDEXED BY ${index} ${joinTasks}
  WHERE t.hook_at IS NOT NULL AND ${own} t.hook_at <= ?
  ORDER BY t.hook_at, t.n LIMIT ?`

const selectOwedOfAll = selectOwed('tasks_owed', '')
const selectOwedOfThread = selectOwed('tasks_owed_of_thread', 't.thread = (SELECT n FROM threads WHERE key = ?) AND')

function listOwed(connection: Connection, { owedBy, key, limit }: OwedQuery): TaskPage {
  const rows =
    key === undefined
      ? connection.all<TaskRow>(selectOwedOfAll, owedBy, limit)
      : connection.all<TaskRow>(selectOwedOfThread, key, owedBy, limit)
  return { tasks: rows.map(toRecord) }
}

function listOwn(connection: Connection, query: TaskQuery): TaskPage {
  const { untaken, limit, bytesMax = Number.POSITIVE_INFINITY, resultBytesMax } = query
  // One more than the page, because a cursor is given only if something follows.
  const rows = untaken ? untakenRows(connection, query) : newestRows(connection, query)
  const page = rows.slice(0, Math.min(limit, Math.max(1, countWithin(rows.map(bytesOf), bytesMax))))
  const last = page.at(-1)
  const tasks = resultBytesMax === undefined ? toShown(connection, page) : withResults(connection, page, resultBytesMax)
  if (rows.length === page.length || !last) return { tasks }
  return { tasks, cursor: untaken ? [last.completed_at ?? 0, last.seq, last.n].join('.') : String(last.n) }
}

function withResults(connection: Connection, rows: readonly SizedRow[], bytesMax: number): ShownRecord[] {
  const ends = rows.map((row) => ({ ...row, input_bytes: null }))
  return toShown(connection, ends, ends.slice(0, countWithin(ends.map(bytesOf), bytesMax)))
}

/** A condition with its values, in the order of its question marks. */
type Condition = readonly [sql: string, ...values: SQLInputValue[]]

function newestRows(connection: Connection, query: TaskQuery): SizedRow[] {
  const [before = Number.MAX_SAFE_INTEGER] = query.cursor === undefined ? [] : parseNumbers(query.cursor, 1)
  const parts = newestParts(query).map(([index, ...conditions]) => {
    const all: Condition[] = [...conditions, ...filters(query), ['n < ?', before]]
    const where = all.map(([sql]) => sql).join(' AND ')
    const sql = `SELECT * FROM (SELECT n FROM tasks INDEXED BY ${index} WHERE ${where} ORDER BY n DESC LIMIT ?)`
    return { sql, values: [...all.flatMap(([, ...values]) => values), query.limit + 1] }
  })
  if (parts.length === 0) return []
  const union = parts.map((part) => part.sql).join(' UNION ALL ')
  const sql = `${selectSized} FROM tasks t ${joinTasks} WHERE t.n IN (${union}) ORDER BY t.n DESC LIMIT ?`
  return connection.all<SizedRow>(sql, ...parts.flatMap((part) => part.values), query.limit + 1)
}

/**
 * The index that finds the fewest rows, with the conditions it serves. Thread and principal are searched once per status,
 * each newest first, so that few that match among many that do not cost no more than a page.
 */
function newestParts(query: TaskQuery): [index: string, ...Condition[]][] {
  if (query.parent !== undefined) return [['tasks_of_parent', ['parent = ?', query.parent], ...statusIn(query)]]
  if (query.name !== undefined) {
    return [['tasks_by_name', ['principal = ?', query.principal], ['name = ?', query.name], ...statusIn(query)]]
  }
  const index = query.thread === undefined ? 'tasks_of_principal' : 'tasks_of_thread'
  return statuses
    .filter((status) => !query.status || query.status.includes(status))
    .map((status) => [index, ['status = ?', status]])
}

function untakenRows(connection: Connection, query: TaskQuery): SizedRow[] {
  const index = query.thread === undefined ? 'tasks_untaken' : 'tasks_untaken_of_thread'
  const after = query.cursor === undefined ? [-1, 0, 0] : parseNumbers(query.cursor, 3)
  const [afterAt = -1] = after
  const conditions: Condition[] = [
    ['untaken'],
    ...filters(query),
    ...statusIn(query),
    // The first is what the index is searched by, the second what is meant.
    ['coalesce(completed_at, 0) >= ?', afterAt],
    ['(coalesce(completed_at, 0), seq, n) > (?, ?, ?)', ...after],
  ]
  const where = conditions.map(([sql]) => sql).join(' AND ')
  const order = 'coalesce(completed_at, 0), seq, n'
  const page = `SELECT n FROM tasks INDEXED BY ${index} WHERE ${where} ORDER BY ${order} LIMIT ?`
  const sql = `${selectSized} FROM tasks t ${joinTasks} WHERE t.n IN (${page})
    ORDER BY coalesce(t.completed_at, 0), t.seq, t.n`
  return connection.all<SizedRow>(sql, ...conditions.flatMap(([, ...values]) => values), query.limit + 1)
}

function statusIn({ status }: TaskQuery): Condition[] {
  return status ? [['status IN (SELECT value FROM json_each(?))', JSON.stringify(status)]] : []
}

function filters({ principal, thread, type, name, parent, roots }: TaskQuery): Condition[] {
  const own: Condition =
    thread === undefined
      ? ['principal = ?', principal]
      : ['thread = (SELECT n FROM threads WHERE key = ?)', threadKey(principal, thread)]
  return [
    own,
    ...(type ? [['type IN (SELECT value FROM json_each(?))', JSON.stringify(type)] as const] : []),
    ...(name !== undefined ? [['name = ?', name] as const] : []),
    ...(parent !== undefined ? [['parent = ?', parent] as const] : []),
    ...(roots ? [['parent IS NULL'] as const] : []),
  ]
}
