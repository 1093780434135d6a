import type { Range } from '../../core/event.ts'
import type { TaskId } from '../../core/id.ts'
import type { TaskPut, Unit } from '../../core/unit.ts'
import { toColumn } from './column-text.ts'
import { listsOf, type Row } from './lists.ts'
import { packMail, packMessage, packStep } from './pack-rest.ts'
import { packHook, packTask } from './pack-task.ts'
import { PackedTexts } from './pack-texts.ts'

type Kind = 'added' | 'changed' | 'hooks' | 'mail' | 'read' | 'messages' | 'steps' | 'forget'

type Segment = Partial<Record<Kind, Row[]>>

/** How a unit stands to the rows before it, by the names of the columns of `units`. */
export interface Standing extends Row {
  /** How many puts there are with its own. */
  readonly puts: number
  /** What was gathered before it is written first. */
  readonly is_apart: true | undefined
  /** It takes what it puts itself: its own rows are written before that. */
  readonly is_split: true | undefined
}

/**
 * The rows of a batch, in segments. All rows of a kind in a segment are written by one statement, tasks first and what is
 * forgotten last, so a segment ends before a unit for which that would not come to the same as one unit after the other.
 */
export class PackedRows {
  /** What `commit_units` has to know of the puts one by one; their rows are in the segments. */
  readonly #puts: Row[] = []
  readonly #texts = new PackedTexts()
  readonly #segments: Segment[] = [{}]
  /** Ids of what the segment has written to, or removed. */
  #put = new Set<string>()
  #hooked = new Set<string>()
  #gone = new Set<string>()

  /** `ranges` says where the events of its tasks are in the unit. */
  add(unit: Unit, n: number, ranges: ReadonlyMap<TaskId, Range>, place: (id: TaskId) => number): Standing {
    const isApart = this.#comesApart(unit)
    if (isApart) this.#next()
    for (const put of unit.tasks ?? []) this.#addPut(unit, n, put, ranges.get(put.record.id), place(put.record.id))
    for (const hook of unit.hooks ?? []) this.#add('hooks', n, packHook(hook))
    for (const mail of unit.mail ?? []) this.#add('mail', n, packMail(mail, this.#texts))
    for (const id of unit.read ?? []) this.#add('read', n, { id: toColumn(id) })
    for (const message of unit.messages ?? [])
      this.#add('messages', n, packMessage(message, unit.events.length, this.#texts))
    for (const step of unit.steps ?? []) this.#add('steps', n, packStep(step, this.#texts))
    for (const id of unit.forget ?? []) this.#add('forget', n, { task: toColumn(id) })
    for (const { task } of unit.hooks ?? []) this.#hooked.add(task)
    for (const id of [...(unit.read ?? []), ...(unit.forget ?? [])]) this.#gone.add(id)
    const isSplit = unit.take?.some((id) => this.#put.has(id)) === true
    if (isSplit) this.#next()
    return { puts: this.#puts.length, is_apart: isApart || undefined, is_split: isSplit || undefined }
  }

  /** What goes beside the lists. */
  get texts(): readonly string[] {
    return this.#texts.texts
  }

  /** As `commit_units` is given them. */
  lists(): { readonly puts: Record<string, string>; readonly segments: readonly Record<string, unknown>[] } {
    const lists = (segment: Segment) =>
      Object.fromEntries(Object.entries(segment).map(([kind, rows]) => [kind, listsOf(rows)]))
    return { puts: listsOf(this.#puts), segments: this.#segments.map(lists) }
  }

  #comesApart(unit: Unit): boolean {
    if (Object.keys(this.#segments.at(-1) ?? {}).length === 0) return false
    if (unit.erase || unit.eraseTasks !== undefined) return true
    return (
      unit.tasks?.some(({ record }) => this.#put.has(record.id) || this.#hooked.has(record.id)) === true ||
      unit.take?.some((id) => this.#put.has(id)) === true ||
      unit.hooks?.some(({ task }) => this.#hooked.has(task)) === true ||
      unit.mail?.some(({ id, task }) => this.#gone.has(id) || this.#gone.has(task)) === true ||
      unit.steps?.some(({ task }) => this.#gone.has(task)) === true
    )
  }

  #next(): void {
    this.#segments.push({})
    this.#put = new Set()
    this.#hooked = new Set()
    this.#gone = new Set()
  }

  #addPut(unit: Unit, n: number, put: TaskPut, range: Range | undefined, task: number): void {
    const { record, isNew } = put
    if (record.key !== unit.thread) throw new Error(`${record.id} is not of the thread ${unit.thread}`)
    if (this.#put.has(record.id)) throw new Error(`${record.id} is put twice in a unit`)
    this.#put.add(record.id)
    const row = this.#add(isNew ? 'added' : 'changed', n, packTask(put, this.#texts))
    const [from, to] = (isNew && range) || [-1, -1]
    this.#puts.push({
      task,
      row: isNew ? -row : row,
      status: ['pending', 'running'].indexOf(record.status) + 1,
      epoch: record.epoch,
      from,
      to,
    })
  }

  /** The number of the row in its list. */
  #add(kind: Kind, unit: number, row: Row): number {
    const segment = this.#segments.at(-1) ?? {}
    const rows = segment[kind] ?? []
    segment[kind] = rows
    return rows.push({ unit, ...row })
  }
}
