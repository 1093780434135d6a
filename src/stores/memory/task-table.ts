import { invariant } from '../../core/errors.ts'
import type { Range } from '../../core/event.ts'
import { type HookPut, putHook, withHook } from '../../core/hook.ts'
import { type TaskId, type ThreadKey, taskNumber } from '../../core/id.ts'
import { withStoredReport } from '../../core/report.ts'
import { stamped } from '../../core/stamp.ts'
import { isTerminal } from '../../core/status.ts'
import type { TaskRecord } from '../../core/task.ts'
import type { Stamp, TaskPut } from '../../core/unit.ts'
import { frozenCopy } from './frozen-copy.ts'
import type { Journal } from './journal.ts'
import { isUntaken, type Tables, type TaskRow } from './tables.ts'

type Ranges = ReadonlyMap<TaskId, Range>

/** The instant of the unit that writes, its last number, and where the events of its tasks are. */
interface Moment {
  readonly at: number
  readonly head: number
  readonly ranges: Ranges
}

export function putTask(tables: Tables, key: ThreadKey, put: TaskPut, moment: Moment, journal: Journal): void {
  const { id } = put.record
  const row = tables.tasks.get(id)
  invariant(put.record.key === key, `task ${id} of thread ${put.record.key} is written in a unit of ${key}`)
  if (put.isNew) {
    invariant(row === undefined, `task ${id} is accepted twice`)
    const numbers = numbersOf({ firstSeq: 0, seq: 0 }, id, moment.ranges)
    insert(tables, frozenCopy({ ...put.record, ...numbers, ...stamped(put, moment.at, moment.head) }), journal)
    return
  }
  invariant(row?.record.key === key, `task ${id} is changed but was never accepted in thread ${key}`)
  const numbers = numbersOf(row.record, id, moment.ranges)
  const kept = { ...numbers, ...stampsOf(row.record), ...stamped(put, moment.at, moment.head) }
  replace(tables, row, frozenCopy({ ...withStoredReport(put, row.record), ...kept }), journal)
}

/** Merges fields into a live task that no index looks at, which is what an executing task writes all the time. */
export function updateLive(tables: Tables, id: TaskId, fields: Partial<TaskRecord>, journal: Journal): void {
  const row = tables.tasks.get(id)
  if (row) journal.assign(row, { record: Object.freeze({ ...row.record, ...fields }) })
}

/** Numbers the tasks that have events in the unit and are not put by it. */
export function numberTasks(tables: Tables, key: ThreadKey, ranges: Ranges, journal: Journal): void {
  for (const [id, [, last]] of ranges) {
    const row = tables.tasks.get(id)
    if (row?.record.key !== key || row.record.seq === last) continue
    const numbers = numbersOf(row.record, id, ranges)
    if (!isTerminal(row.record.status)) updateLive(tables, id, numbers, journal)
    else replace(tables, row, Object.freeze({ ...row.record, ...numbers }), journal)
  }
}

type Numbers = Pick<TaskRecord, 'firstSeq' | 'seq'>

function numbersOf({ firstSeq, seq }: Numbers, id: TaskId, ranges: Ranges): Numbers {
  const range = ranges.get(id)
  return range ? { firstSeq: firstSeq || range[0], seq: range[1] } : { firstSeq, seq }
}

/** Takes the ends that are there to be taken and names them. */
export function takeTasks(tables: Tables, key: ThreadKey, ids: readonly TaskId[], journal: Journal): TaskId[] {
  return ids.filter((id) => {
    const row = tables.tasks.get(id)
    if (row?.record.key !== key || !isUntaken(row.record)) return false
    replace(tables, row, Object.freeze({ ...row.record, taken: true }), journal)
    return true
  })
}

/** Only of ended tasks; what is owed to others is not known yet. */
export function putHooks(tables: Tables, key: ThreadKey, puts: readonly HookPut[], at: number, journal: Journal): void {
  for (const put of puts) {
    const row = tables.tasks.get(put.task)
    if (row?.record.key !== key || !isTerminal(row.record.status)) continue
    replace(tables, row, frozenCopy(withHook(row.record, putHook(put, at))), journal)
  }
}

function insert(tables: Tables, record: TaskRecord, journal: Journal): void {
  const row: TaskRow = { ordinal: tables.counters.ordinal++, record }
  journal.set(tables.tasks, record.id, row)
  for (const index of Object.values({ ...tables.accepted, ...tables.changing })) index.add(row, journal)
  const number = taskNumber(record.id) ?? -1
  journal.assign(tables.counters, { nextTask: Math.max(tables.counters.nextTask, number + 1) })
}

export function removeTask(tables: Tables, row: TaskRow, journal: Journal): void {
  for (const index of Object.values({ ...tables.accepted, ...tables.changing })) index.remove(row, journal)
  journal.delete(tables.tasks, row.record.id)
}

function replace(tables: Tables, row: TaskRow, record: TaskRecord, journal: Journal): void {
  for (const index of Object.values(tables.changing)) index.remove(row, journal)
  journal.assign(row, { record })
  for (const index of Object.values(tables.changing)) index.add(row, journal)
}

const stamps: readonly Stamp[] = ['createdAt', 'cancelRequestedAt', 'startedAt', 'completedAt', 'startedSeq']

/** A record may have been decided before the commit that stamped it, so what is stored stands. */
function stampsOf(record: TaskRecord): Partial<TaskRecord> {
  return Object.fromEntries(
    stamps.filter((stamp) => record[stamp] !== undefined).map((stamp) => [stamp, record[stamp]]),
  )
}
