import { type TaskId, threadKey } from '../../core/id.ts'
import { parseNumbers } from '../../core/list-cursor.ts'
import { statuses } from '../../core/status.ts'
import type { StepRecord } from '../../core/step.ts'
import type { TaskRecord } from '../../core/task.ts'
import type { OwedQuery, TaskPage, TaskQuery } from '../store.ts'
import { fromColumn, toColumn, toOptional } from './column-text.ts'
import type { Connection, Statement } from './connection.ts'
import type { StepDoc } from './pack-rest.ts'
import { columnsWhile, endColumnsWhile, isWhole, type ShownRow, takeAtMost, toShown } from './shown-rows.ts'
import { endColumns, isUntaken, type TaskRow, taskColumns, toRecord } from './task-row.ts'

const selectSome = `
  SELECT ${taskColumns} FROM holdfast.tasks t JOIN holdfast.threads th ON th.n = t.thread WHERE t.id = ANY ($1)`

const selectSteps = 'SELECT task, key, value, seq, doc FROM holdfast.steps WHERE task = $1 ORDER BY n'
const selectLastStep = `${selectSteps} DESC LIMIT 1`

export async function readTasks(
  connection: Connection,
  ids: readonly TaskId[],
  timeoutMs: number,
): Promise<Map<TaskId, TaskRecord>> {
  const values = [ids.map(toColumn)]
  const rows = await connection.query<TaskRow>({ name: 'tasks', sql: selectSome, values, timeoutMs })
  return new Map(rows.map(toRecord).map((record) => [record.id, record]))
}

interface StepRow {
  readonly task: TaskId
  readonly key: string
  readonly value: string | null
  readonly seq: number
  readonly doc: string
}

export async function readSteps(connection: Connection, id: TaskId, which?: 'last'): Promise<StepRecord[]> {
  const statement = which === 'last' ? { name: 'last_step', sql: selectLastStep } : { name: 'steps', sql: selectSteps }
  const rows = await connection.query<StepRow>({ ...statement, values: [toColumn(id)] })
  return rows.map(({ task, key, value, seq, doc }) => ({
    task: fromColumn(task),
    key: fromColumn(key),
    ...(JSON.parse(doc) as StepDoc),
    ...(value !== null && { value }),
    seq,
  }))
}

/** What a node is to decide by is answered within `decideMs`, or not at all. */
export async function listTasks(
  connection: Connection,
  query: TaskQuery | OwedQuery,
  decideMs: number,
): Promise<TaskPage> {
  if ('owedBy' in query) return listOwed(connection, query)
  if (!query.untaken) return listNewest(connection, query)
  const { toDecide, thread, resultBytesMax } = query
  if (toDecide) return listUntaken(connection, query, { ...untakenToDecide, timeoutMs: decideMs })
  if (resultBytesMax !== undefined) return listResults(connection, query, resultBytesMax)
  return listUntaken(connection, query, { sql: thread === undefined ? untakenOfPrincipal : untakenOfThread })
}

const selectOwed = `
  SELECT ${taskColumns} FROM holdfast.tasks t JOIN holdfast.threads th ON th.n = t.thread
  WHERE t.hook_at IS NOT NULL AND t.hook_at <= $1 AND ($2::text IS NULL OR th.key = $2)
  ORDER BY t.hook_at, t.n LIMIT $3`

async function listOwed(connection: Connection, { owedBy, key, limit }: OwedQuery): Promise<TaskPage> {
  const rows = await connection.query<TaskRow>({ sql: selectOwed, values: [owedBy, key ?? null, limit] })
  return { tasks: rows.map(toRecord) }
}

// Searched once per status, each newest first, so that few that match among many that do not cost no more than a page.
const selectNewest = (own: string): string => `
  SELECT ${columnsWhile(`(${takeAtMost('$9', 't.input', 't.result')} OR row_number() OVER w = 1)`)}
  FROM unnest($1::text[]) AS s (status)
  CROSS JOIN LATERAL (
    SELECT * FROM holdfast.tasks t
    WHERE t.status = s.status AND ${own}
      AND ($3::text[] IS NULL OR t.type = ANY ($3)) AND ($4::text IS NULL OR t.name = $4)
      AND ($5::text IS NULL OR t.parent = $5) AND (NOT $6::boolean OR t.parent IS NULL) AND t.n < $7
    ORDER BY t.n DESC LIMIT $8
  ) t
  JOIN holdfast.threads th ON th.n = t.thread
  WINDOW w AS (ORDER BY t.n DESC)
  ORDER BY t.n DESC LIMIT $8`

const ofThread = 't.thread = (SELECT n FROM holdfast.threads WHERE key = $2)'
const selectNewestOfThread = selectNewest(ofThread)
const selectNewestOfPrincipal = selectNewest('t.principal = $2')

async function listNewest(connection: Connection, query: TaskQuery): Promise<TaskPage> {
  const { thread, limit, cursor, status = statuses, bytesMax = Number.MAX_SAFE_INTEGER } = query
  const [before = Number.MAX_SAFE_INTEGER] = cursor === undefined ? [] : parseNumbers(cursor, 1)
  const sql = thread === undefined ? selectNewestOfPrincipal : selectNewestOfThread
  // One more than the page, because a cursor is given only if something follows.
  const values = [[...new Set(status)], ownerOf(query), ...filters(query), before, limit + 1, bytesMax]
  const rows = await connection.query<ShownRow>({ sql, values })
  const firstLeftOut = rows.findIndex((row) => !isWhole(row))
  return page(rows, firstLeftOut < 0 ? limit : Math.min(limit, firstLeftOut), (last) => String(last.n))
}

const endOrder = 'coalesce(t.completed_at, 0), t.end_seq, t.n'

const selectUntaken = (own: string, columns = taskColumns): string => `
  SELECT ${columns}
  FROM holdfast.tasks t JOIN holdfast.threads th ON th.n = t.thread
  WHERE ${isUntaken} AND ${own} AND ($1::text[] IS NULL OR t.status = ANY ($1))
    AND ($3::text[] IS NULL OR t.type = ANY ($3)) AND ($4::text IS NULL OR t.name = $4)
    AND ($5::text IS NULL OR t.parent = $5) AND (NOT $6::boolean OR t.parent IS NULL)
    AND (${endOrder}) > ($7::bigint, $8::bigint, $9::bigint)
  WINDOW w AS (ORDER BY ${endOrder})
  ORDER BY ${endOrder} LIMIT $10`

const untakenOfThread = selectUntaken(ofThread)
const untakenOfPrincipal = selectUntaken('t.principal = $2')
const resultsOf = (own: string): string => selectUntaken(own, endColumnsWhile(takeAtMost('$11', 't.result')))
const resultsOfThread = resultsOf(ofThread)
const resultsOfPrincipal = resultsOf('t.principal = $2')
const untakenToDecide = { name: 'untaken', sql: selectUntaken(ofThread, endColumns) }

function listResults(connection: Connection, query: TaskQuery, bytesMax: number): Promise<TaskPage> {
  const sql = query.thread === undefined ? resultsOfPrincipal : resultsOfThread
  return listUntaken(connection, query, { sql, values: [bytesMax] })
}

/** The values of the statement are beside those that all of them have. */
async function listUntaken(connection: Connection, query: TaskQuery, statement: Statement): Promise<TaskPage> {
  const { limit, cursor, status } = query
  const after = cursor === undefined ? [-1, 0, 0] : parseNumbers(cursor, 3)
  const values = [status ?? null, ownerOf(query), ...filters(query), ...after, limit + 1, ...(statement.values ?? [])]
  const rows = await connection.query<ShownRow>({ ...statement, values })
  return page(rows, limit, (last) => [last.completed_at ?? 0, last.seq, last.n].join('.'))
}

function page(rows: readonly ShownRow[], limit: number, cursorAfter: (last: TaskRow) => string): TaskPage {
  const shown = rows.slice(0, limit)
  const last = shown.at(-1)
  const tasks = shown.map(toShown)
  return rows.length > limit && last ? { tasks, cursor: cursorAfter(last) } : { tasks }
}

function ownerOf({ principal, thread }: TaskQuery): string {
  return thread === undefined ? principal : threadKey(principal, thread)
}

function filters({ type, name, parent, roots }: TaskQuery): unknown[] {
  return [type?.map(toColumn) ?? null, toOptional(name) ?? null, toOptional(parent) ?? null, roots === true]
}
