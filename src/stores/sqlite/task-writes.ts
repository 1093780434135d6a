import type { TaskId } from '../../core/id.ts'
import type { Status } from '../../core/status.ts'
import type { TaskPut, Unit } from '../../core/unit.ts'
import type { Connection } from './connection.ts'
import { columnNames, columnValues, stampNames, stampValues } from './task-row.ts'

/** A task as a batch has left it so far. */
interface TaskState {
  readonly n: number
  readonly thread: number
  status: Status
  epoch: number
  firstSeq: number
  seq: number
  /** What it reported since its row was written. */
  report: NonNullable<Unit['report']>
  /** Whether `flush` has something to write. */
  isChanged: boolean
}

/** Where and when a unit stands: its thread, its instant, and the first and last number of each task's events in it. */
export interface UnitPlace {
  readonly thread: number
  readonly principal: string
  readonly at: number
  readonly lastSeq: number
  readonly tags: ReadonlyMap<TaskId, { readonly first: number; readonly last: number }>
}

const selectTask = 'SELECT n, thread, status, epoch, first_seq AS firstSeq, seq FROM tasks WHERE id = ?'

const insertColumns = ['id', 'thread', 'principal', 'first_seq', 'seq', ...stampNames, ...columnNames]
const insertTask = `
  INSERT INTO tasks (${insertColumns.join(', ')}) VALUES (${insertColumns.map(() => '?').join(', ')})`

// A stamp sets its column; what the record says of it counts only while the column is empty.
const updateTask = `
  UPDATE tasks SET first_seq = ?, seq = ?,
    ${stampNames.map((name) => `${name} = coalesce(?, ${name}, ?)`).join(', ')},
    ${columnNames.map((name) => `${name} = ?`).join(', ')}
  WHERE n = ?`

const updateReport = `
  UPDATE tasks SET first_seq = ?, seq = ?, progress = coalesce(?, progress), usage = coalesce(?, usage)
  WHERE n = ? AND status = ? AND epoch = ?`

const insertInput = 'INSERT INTO inputs (task, body) VALUES (?, ?)'
const replaceResult = 'INSERT OR REPLACE INTO results (task, body) VALUES (?, ?)'
const deleteResult = 'DELETE FROM results WHERE task = ?'

const takeResult = 'UPDATE tasks SET taken = 1 WHERE id = ? AND thread = ? AND NOT live AND NOT taken'

/**
 * The tasks that a batch touches. A put writes its row at once, in the order of the units, so that the unique
 * indexes judge it by what came before; numbers and reports of running tasks are written once per task, at the end.
 */
export class TaskWrites {
  readonly #connection: Connection
  readonly #states = new Map<TaskId, TaskState>()

  constructor(connection: Connection) {
    this.#connection = connection
  }

  isRunning(fence: NonNullable<Unit['fence']>, thread: number): boolean {
    const task = this.#find(fence.task)
    return task?.thread === thread && task.status === 'running' && task.epoch === fence.epoch
  }

  report(id: TaskId, report: NonNullable<Unit['report']>): void {
    const task = this.#find(id)
    if (!task) return
    task.report = { ...task.report, ...report }
    task.isChanged = true
  }

  /** Gives a task of the unit's thread the numbers of its events. A tag that names no such task is no error. */
  number(id: TaskId, place: UnitPlace): void {
    const tag = place.tags.get(id)
    const task = this.#find(id)
    if (!tag || task?.thread !== place.thread) return
    if (task.firstSeq === 0) task.firstSeq = tag.first
    task.seq = tag.last
    task.isChanged = true
  }

  put(put: TaskPut, place: UnitPlace): void {
    if (put.isNew) this.#insert(put, place)
    else this.#update(put, place)
  }

  take(id: TaskId, thread: number): boolean {
    return this.#connection.run(takeResult, id, thread) === 1
  }

  flush(): void {
    for (const task of this.#states.values()) {
      if (!task.isChanged) continue
      const { progress, usage } = task.report
      const values = [task.firstSeq, task.seq, progress ?? null, usage ? JSON.stringify(usage) : null]
      this.#connection.run(updateReport, ...values, task.n, task.status, task.epoch)
    }
  }

  #find(id: TaskId): TaskState | undefined {
    const known = this.#states.get(id)
    if (known) return known
    const row = this.#connection.get<Omit<TaskState, 'report' | 'isChanged'>>(selectTask, id)
    if (!row) return undefined
    const state = { ...row, report: {}, isChanged: false }
    this.#states.set(id, state)
    return state
  }

  #insert(put: TaskPut, place: UnitPlace): void {
    const { record } = put
    const tag = place.tags.get(record.id)
    const [firstSeq, seq] = [tag?.first ?? 0, tag?.last ?? 0]
    const stamps = stampValues(put, place.at, place.lastSeq).map((stamp) => stamp.value)
    const values = [record.id, place.thread, place.principal, firstSeq, seq, ...stamps, ...columnValues(record)]
    const n = Number(this.#connection.prepare(insertTask).run(...values).lastInsertRowid)
    if (record.input !== undefined) this.#connection.run(insertInput, n, record.input)
    if (record.result !== undefined) this.#connection.run(replaceResult, n, record.result)
    const { status, epoch } = record
    this.#states.set(record.id, { n, thread: place.thread, status, epoch, firstSeq, seq, report: {}, isChanged: false })
  }

  #update(put: TaskPut, place: UnitPlace): void {
    const { record } = put
    const task = this.#find(record.id)
    if (task?.thread !== place.thread) throw new Error(`${record.id} cannot be updated: its thread has no such task`)
    const stamps = stampValues(put, place.at, place.lastSeq)
    const stampPairs = stamps.flatMap(({ set, value }) => (set ? [value, null] : [null, value]))
    this.#connection.run(updateTask, task.firstSeq, task.seq, ...stampPairs, ...columnValues(record), task.n)
    if (record.result === undefined) this.#connection.run(deleteResult, task.n)
    else this.#connection.run(replaceResult, task.n, record.result)
    Object.assign(task, { status: record.status, epoch: record.epoch, report: {}, isChanged: false })
  }
}
