import type { HookRecord } from '../../core/hook.ts'
import type { JsonText, TaskId, ThreadKey } from '../../core/id.ts'
import type { Status } from '../../core/status.ts'
import type { TaskRecord, Usage } from '../../core/task.ts'
import type { Report, Stamp, TaskPut } from '../../core/unit.ts'

/** A task as it is read, with what stands in other tables. `n` is the order in which tasks were first stored. */
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
  readonly ready: number
  readonly taken: number
  readonly closure: number
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

/** Selects task rows; a query adds its conditions on `t`. */
export const selectTasks = `
  SELECT t.n, t.id, th.key, t.type, t.agent, t.name, t.step_key, t.status, t.place, t.ready, t.taken, t.closure, t.wake,
         t.node, t.attempt, t.epoch, t.first_seq, t.started_seq, t.seq, t.created_at, t.started_at, t.completed_at,
         t.cancel_requested_at, t.progress, t.usage, t.hook, t.hook_at, t.doc, i.body AS input, r.body AS result`

export const joinTasks = `
  CROSS JOIN threads th ON th.n = t.thread
  LEFT JOIN inputs i ON i.task = t.n
  LEFT JOIN results r ON r.task = t.n`

/** Fields that have a column. An input or result that is too long for `doc` has a table (`apartBody`). */
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
  'firstSeq',
  'seq',
  'startedSeq',
  'createdAt',
  'startedAt',
  'completedAt',
  'cancelRequestedAt',
] as const

/** The rest of a record, which no query looks at. A field that is added to records later is kept here by itself. */
type Doc = Omit<TaskRecord, (typeof apart)[number]>

export function toRecord(row: TaskRow): TaskRecord {
  return {
    ...(JSON.parse(row.doc) as Doc),
    id: row.id,
    key: row.key,
    type: row.type,
    ...(row.agent !== null && { agent: row.agent }),
    ...(row.name !== null && { name: row.name }),
    ...(row.step_key !== null && { stepKey: row.step_key }),
    status: row.status,
    place: row.place,
    ready: row.ready === 1,
    taken: row.taken === 1,
    ...(row.closure === 1 && { closure: true }),
    ...(row.wake !== null && { wake: row.wake }),
    ...(row.node !== '' && { node: row.node }),
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

/** The instant has a column of its own, because what is due is looked for by it. */
function hookOf(text: string, nextAt: number | null): HookRecord {
  return { ...(JSON.parse(text) as Omit<HookRecord, 'nextAt'>), ...(nextAt !== null && { nextAt }) }
}

export function hookValues(hook: HookRecord | undefined): [text: string | null, nextAt: number | null] {
  if (!hook) return [null, null]
  const { nextAt, ...rest } = hook
  return [JSON.stringify(rest), nextAt ?? null]
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

/** The columns that every put writes, in the order of `columnValues`. */
export const columnNames = [
  'type',
  'agent',
  'name',
  'parent',
  'step_key',
  'status',
  'place',
  'ready',
  'taken',
  'closure',
  'wake',
  'node',
  'attempt',
  'epoch',
  'doc',
] as const

export function columnValues(record: TaskRecord): (string | number | null)[] {
  return [
    record.type,
    record.agent ?? null,
    record.name ?? null,
    record.parent?.task ?? null,
    record.stepKey ?? null,
    record.status,
    record.place,
    Number(record.ready),
    Number(record.taken),
    Number(record.closure === true),
    record.wake ?? null,
    record.node ?? '',
    record.attempt,
    record.epoch,
    docOf(record),
  ]
}

/** What a task reports has columns of its own, which only reports and puts that decide them write. */
export const reportNames = ['progress', 'usage'] as const

export function reportValue(report: Report, name: keyof Report): string | number | null {
  if (name === 'progress') return report.progress ?? null
  return report.usage ? JSON.stringify(report.usage) : null
}

const apartFields: ReadonlySet<string> = new Set(apart)

function docOf(record: TaskRecord): JsonText {
  const doc: Partial<Record<keyof TaskRecord, unknown>> = {}
  // Twice per run at least, so without a list of the fields and another of those that stay.
  let field: keyof TaskRecord
  for (field in record) if (!apartFields.has(field)) doc[field] = record[field]
  for (const name of ['input', 'result'] as const) if (apartBody(record[name]) !== undefined) delete doc[name]
  return JSON.stringify(doc)
}

// In a table of its own it is one more page for its commit to write; in `doc` it is written anew with each change of the task.
const docBodyLengthMax = 400

/** The input or the result of a task, if it is too long for `doc` and so has a table of its own. */
export function apartBody(body: JsonText | undefined): JsonText | undefined {
  return body !== undefined && body.length > docBodyLengthMax ? body : undefined
}

/** Instants and `startedSeq` in this order: what the put stamps, else what its record says, each with null for absent. */
export const stampNames = ['created_at', 'started_at', 'completed_at', 'cancel_requested_at', 'started_seq'] as const

const stamps: readonly Stamp[] = ['createdAt', 'startedAt', 'completedAt', 'cancelRequestedAt', 'startedSeq']

export function stampValues(put: TaskPut, at: number, lastSeq: number): { set: boolean; value: number | null }[] {
  return stamps.map((stamp) => {
    if (put.stamps.includes(stamp)) return { set: true, value: stamp === 'startedSeq' ? lastSeq : at }
    return { set: false, value: put.record[stamp] ?? null }
  })
}
