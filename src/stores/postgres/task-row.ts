import type { HookRecord } from '../../core/hook.ts'
import type { JsonText, TaskId, ThreadKey } from '../../core/id.ts'
import type { Status } from '../../core/status.ts'
import type { TaskRecord, Usage } from '../../core/task.ts'
import type { Stamp } from '../../core/unit.ts'
import { fromColumn } from './column-text.ts'

/** A task as it is read. `n` is the order in which tasks were first stored. */
export interface TaskRow {
  readonly n: number
  readonly id: TaskId
  readonly key: ThreadKey
  readonly type: string
  readonly agent: string | null
  readonly name: string | null
  readonly step_key: string | null
  readonly status: Status
  readonly place: number
  readonly ready: boolean
  readonly taken: boolean
  readonly closure: boolean
  readonly wake: string | null
  readonly node: string
  readonly attempt: number
  readonly epoch: number
  readonly first_seq: number
  readonly started_seq: number | null
  readonly seq: number
  readonly created_at: number
  readonly started_at: number | null
  readonly completed_at: number | null
  readonly cancel_requested_at: number | null
  readonly progress: number | null
  readonly usage: string | null
  readonly hook: string | null
  readonly hook_at: number | null
  readonly doc: string
  readonly input: JsonText | null
  readonly result: JsonText | null
}

/** The columns of a task row; a query names the tasks `t` and their threads `th`. */
export const taskColumns = `
  t.n, t.id, th.key, t.type, t.agent, t.name, t.step_key, t.status, t.place, t.ready, t.taken, t.closure, t.wake, t.node,
  t.attempt, t.epoch, t.first_seq, t.started_seq, t.seq, t.created_at, t.started_at, t.completed_at, t.cancel_requested_at,
  t.progress, t.usage, t.hook, t.hook_at, t.doc, t.input, t.result`

/** The same without what a task was given. */
export const endColumns: string = taskColumns.replace('t.input', 'NULL AS input')

// The conditions of partial indexes, word by word.
export const isLive = `t.status IN ('pending', 'running')`
export const isEnded = `t.status NOT IN ('pending', 'running')`
export const isUntaken = `${isEnded} AND NOT t.taken AND t.type <> 'run'`

/** Fields that have a column. */
const apart = [
  'id',
  'key',
  'type',
  'agent',
  'name',
  'stepKey',
  'status',
  'place',
  'ready',
  'taken',
  'closure',
  'wake',
  'node',
  'attempt',
  'epoch',
  'progress',
  'usage',
  'hook',
  'input',
  'result',
  'firstSeq',
  'seq',
  'startedSeq',
  'createdAt',
  'startedAt',
  'completedAt',
  'cancelRequestedAt',
] as const satisfies readonly (keyof TaskRecord)[]

/** The rest of a record, which no query looks at. A field that is added to records later is kept here by itself. */
type TaskDoc = Omit<TaskRecord, (typeof apart)[number]>

const apartFields: ReadonlySet<string> = new Set(apart)

export function docOf(record: TaskRecord): JsonText {
  const doc: Partial<Record<keyof TaskRecord, unknown>> = {}
  // Of each task that is put, so without a list of the fields and another of those that stay.
  let field: keyof TaskRecord
  for (field in record) if (!apartFields.has(field)) doc[field] = record[field]
  return JSON.stringify(doc)
}

export function toRecord(row: TaskRow): TaskRecord {
  return {
    ...(JSON.parse(row.doc) as TaskDoc),
    id: fromColumn(row.id),
    key: row.key,
    type: fromColumn(row.type),
    ...(row.agent !== null && { agent: fromColumn(row.agent) }),
    ...(row.name !== null && { name: fromColumn(row.name) }),
    ...(row.step_key !== null && { stepKey: fromColumn(row.step_key) }),
    status: row.status,
    place: row.place,
    ready: row.ready,
    taken: row.taken,
    ...(row.closure && { closure: true }),
    ...(row.wake !== null && { wake: fromColumn(row.wake) }),
    ...(row.node !== '' && { node: fromColumn(row.node) }),
    attempt: row.attempt,
    epoch: row.epoch,
    ...(row.progress !== null && { progress: row.progress }),
    ...(row.usage !== null && { usage: JSON.parse(row.usage) as Usage }),
    ...(row.hook !== null && { hook: hookOf(row.hook, row.hook_at) }),
    ...(row.input !== null && { input: row.input }),
    ...(row.result !== null && { result: row.result }),
    ...instants(row),
    firstSeq: row.first_seq,
    seq: row.seq,
  }
}

function hookOf(text: string, nextAt: number | null): HookRecord {
  return { ...(JSON.parse(text) as Omit<HookRecord, 'nextAt'>), ...(nextAt !== null && { nextAt }) }
}

function instants(row: TaskRow): Pick<TaskRecord, Stamp> {
  return {
    createdAt: row.created_at,
    ...(row.started_at !== null && { startedAt: row.started_at }),
    ...(row.completed_at !== null && { completedAt: row.completed_at }),
    ...(row.cancel_requested_at !== null && { cancelRequestedAt: row.cancel_requested_at }),
    ...(row.started_seq !== null && { startedSeq: row.started_seq }),
  }
}
