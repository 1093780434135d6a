import { invariant } from '../../core/errors.ts'
import type { Range } from '../../core/event.ts'
import { type HookPut, putHook } from '../../core/hook.ts'
import type { JsonText, TaskId } from '../../core/id.ts'
import type { Status } from '../../core/status.ts'
import type { Fence, Report, TaskPut } from '../../core/unit.ts'
import type { Connection } from './connection.ts'
import {
  apartBody,
  columnNames,
  columnValues,
  hookValues,
  reportNames,
  reportValue,
  stampNames,
  stampValues,
} from './task-row.ts'

/** A task as the units taken so far have left it. */
interface KnownTask {
  readonly n: number
  readonly thread: number
  status: Status
  epoch: number
  firstSeq: number
  seq: number
  /** What it reported since its row was written. */
  report: Report
  /** It is known from its beginning, and no row of `results`, no step and no mail was stored for it. */
  isBare: boolean
}

type TaskRow = Omit<KnownTask, 'report' | 'isBare'>

/** Where and when a unit stands: its thread, its instant, and the first and last number of each task's events in it. */
export interface UnitPlace {
  readonly thread: number
  readonly principal: string
  readonly at: number
  readonly lastSeq: number
  readonly ranges: ReadonlyMap<TaskId, Range>
}

const selectTask = 'SELECT n, thread, status, epoch, first_seq AS firstSeq, seq FROM tasks WHERE id = ?'

const insertColumns = ['id', 'thread', 'principal', 'first_seq', 'seq', ...stampNames, ...columnNames, ...reportNames]
const insertTask = `
  INSERT INTO tasks (${insertColumns.join(', ')}) VALUES (${insertColumns.map(() => '?').join(', ')})`

// A stamp sets its column; what the record says of it counts only while the column is empty.
const updateTask = `
  UPDATE tasks SET first_seq = ?, seq = ?,
    ${stampNames.map((name) => `${name} = coalesce(?, ${name}, ?)`).join(', ')},
    ${columnNames.map((name) => `${name} = ?`).join(', ')},
    ${reportNames.map((name) => `${name} = iif(?, ?, ${name})`).join(', ')}
  WHERE n = ? AND status = ? AND epoch = ?`

const updateReport = `
  UPDATE tasks SET first_seq = ?, seq = ?, progress = coalesce(?, progress), usage = coalesce(?, usage)
  WHERE n = ? AND status = ? AND epoch = ?`

const insertInput = 'INSERT INTO inputs (task, body) VALUES (?, ?)'
const replaceResult = 'INSERT OR REPLACE INTO results (task, body) VALUES (?, ?)'
const deleteResult = 'DELETE FROM results WHERE task = ?'

// Whatever refers to a task goes before it.
const tasksOfThread = 'SELECT n FROM tasks INDEXED BY tasks_of_thread WHERE thread = ?1 LIMIT ?2'
const idsOfThread = 'SELECT id FROM tasks INDEXED BY tasks_of_thread WHERE thread = ?1 LIMIT ?2'
const rangeOfThread = 'SELECT first_seq, seq FROM tasks INDEXED BY tasks_of_thread WHERE thread = ?1 LIMIT ?2'
const eraseHanging = [
  `DELETE FROM messages WHERE thread = ?1 AND task IN (${idsOfThread})
    AND seq BETWEEN (SELECT min(first_seq) FROM (${rangeOfThread})) AND (SELECT max(seq) FROM (${rangeOfThread}))`,
  `DELETE FROM inputs WHERE task IN (${tasksOfThread})`,
  `DELETE FROM results WHERE task IN (${tasksOfThread})`,
  `DELETE FROM steps WHERE task IN (${idsOfThread})`,
  `DELETE FROM questions WHERE task IN (${idsOfThread})`,
  `DELETE FROM keys WHERE (principal, key) IN (
    SELECT principal, key FROM keys INDEXED BY keys_of_task WHERE task IN (${idsOfThread}))`,
]

const takeResult = 'UPDATE tasks SET taken = 1 WHERE id = ? AND thread = ? AND untaken'

const updateHook = 'UPDATE tasks SET hook = ?, hook_at = ? WHERE id = ? AND thread = ? AND NOT live'

// Some hundred bytes each: enough for all tasks that are executed at the same time.
const knownCountMax = 10_000

/**
 * The tasks that are written to. A put writes its row at once, in the order of the units, so that the unique indexes judge
 * it by what came before; numbers and reports of running tasks are written once per transaction, at its end. What was
 * read stays known, as that of threads does.
 */
export class TaskWrites {
  readonly #connection: Connection
  readonly #known = new Map<TaskId, KnownTask>()
  readonly #changed = new Set<KnownTask>()

  constructor(connection: Connection) {
    this.#connection = connection
  }

  isRunning(fence: Fence, thread: number): boolean {
    const task = this.#find(fence.task)
    return task?.thread === thread && task.status === 'running' && task.epoch === fence.epoch
  }

  report(id: TaskId, report: Report): void {
    const task = this.#find(id)
    if (!task) return
    task.report = { ...task.report, ...report }
    this.#changed.add(task)
  }

  /** Gives a task of the unit's thread the numbers of its events. An event that names no such task is no error. */
  number(id: TaskId, place: UnitPlace): void {
    const range = place.ranges.get(id)
    const task = this.#find(id)
    if (!range || task?.thread !== place.thread) return
    if (task.firstSeq === 0) task.firstSeq = range[0]
    task.seq = range[1]
    this.#changed.add(task)
  }

  /** Whether it is sure that there is no row of `results`, no step and no mail of it. */
  isBare(id: TaskId): boolean {
    return this.#known.get(id)?.isBare ?? false
  }

  /** A step or mail is stored for it. */
  noteAttached(id: TaskId): void {
    const task = this.#known.get(id)
    if (task) task.isBare = false
  }

  put(put: TaskPut, place: UnitPlace): void {
    if (put.isNew) this.#insert(put, place)
    else this.#update(put, place)
  }

  take(id: TaskId, thread: number): boolean {
    return this.#connection.run(takeResult, id, thread) === 1
  }

  hook(put: HookPut, thread: number, at: number): void {
    this.#connection.run(updateHook, ...hookValues(putHook(put, at)), put.task, thread)
  }

  flush(): void {
    for (const task of this.#changed) {
      const values = reportNames.map((name) => reportValue(task.report, name))
      this.#write(updateReport, task, values)
      task.report = {}
    }
    this.#changed.clear()
    if (this.#known.size > knownCountMax) this.forget()
  }

  /** Removes tasks of a thread, all unless it is said how many, what hangs on them and what was said in them. Says how many it were. */
  erase(thread: number, countMax = -1): number {
    for (const sql of eraseHanging) this.#connection.run(sql, thread, countMax)
    const taskCount = this.#connection.run(`DELETE FROM tasks WHERE n IN (${tasksOfThread})`, thread, countMax)
    for (const [id, task] of this.#known) {
      if (task.thread !== thread) continue
      this.#known.delete(id)
      this.#changed.delete(task)
    }
    return taskCount
  }

  /** Forgets what is known, which a transaction that failed, or another connection, may have made wrong. */
  forget(): void {
    this.#known.clear()
    this.#changed.clear()
  }

  #find(id: TaskId): KnownTask | undefined {
    const known = this.#known.get(id)
    if (known) return known
    const row = this.#connection.get<TaskRow>(selectTask, id)
    return row && this.#keep(id, row, false)
  }

  #keep(id: TaskId, row: TaskRow, isBare: boolean): KnownTask {
    const task = { ...row, report: {}, isBare }
    this.#known.set(id, task)
    return task
  }

  #insert(put: TaskPut, place: UnitPlace): void {
    const { record } = put
    const [firstSeq, seq] = place.ranges.get(record.id) ?? [0, 0]
    const stamps = stampValues(put, place.at, place.lastSeq).map((stamp) => stamp.value)
    const fixed = [record.id, place.thread, place.principal, firstSeq, seq, ...stamps]
    const values = [...fixed, ...columnValues(record), ...reportNames.map((name) => reportValue(record, name))]
    const n = Number(this.#connection.prepare(insertTask).run(...values).lastInsertRowid)
    const [input, result] = [apartBody(record.input), apartBody(record.result)]
    if (input !== undefined) this.#connection.run(insertInput, n, input)
    if (result !== undefined) this.#connection.run(replaceResult, n, result)
    const row = { n, thread: place.thread, status: record.status, epoch: record.epoch, firstSeq, seq }
    this.#keep(record.id, row, result === undefined)
  }

  #update(put: TaskPut, place: UnitPlace): void {
    const { record } = put
    const task = this.#find(record.id)
    if (task?.thread !== place.thread) throw new Error(`${record.id} cannot be updated: its thread has no such task`)
    const stamps = stampValues(put, place.at, place.lastSeq)
    const stampPairs = stamps.flatMap(({ set, value }) => (set ? [value, null] : [null, value]))
    this.#write(updateTask, task, [...stampPairs, ...columnValues(record), ...reportPairs(put, task.report)])
    this.#updateResult(apartBody(record.result), task)
    Object.assign(task, { status: record.status, epoch: record.epoch, report: {} })
    this.#changed.delete(task)
  }

  #updateResult(result: JsonText | undefined, task: KnownTask): void {
    if (result === undefined && task.isBare) return
    task.isBare = false
    if (result === undefined) this.#connection.run(deleteResult, task.n)
    else this.#connection.run(replaceResult, task.n, result)
  }

  /** Changes the row of a task as it is known, and no other. */
  #write(sql: string, { n, firstSeq, seq, status, epoch }: KnownTask, values: (string | number | null)[]): void {
    const count = this.#connection.run(sql, firstSeq, seq, ...values, n, status, epoch)
    invariant(count === 1, `task ${n} is ${status} at epoch ${epoch}`)
  }
}

/** For each column of the report whether the put writes it, and what: what it decides, else what was reported meanwhile. */
function reportPairs({ record, reports = [] }: TaskPut, reported: Report): (string | number | null)[] {
  return reportNames.flatMap((name) => {
    if (reports.includes(name)) return [1, reportValue(record, name)]
    return reported[name] === undefined ? [0, null] : [1, reportValue(reported, name)]
  })
}
