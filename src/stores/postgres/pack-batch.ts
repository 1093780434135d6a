import type { Range } from '../../core/event.ts'
import { principalOf, type TaskId, type ThreadKey, taskNumber } from '../../core/id.ts'
import { taskRanges } from '../../core/stamp.ts'
import type { Unit } from '../../core/unit.ts'
import { toColumn, toOptional } from './column-text.ts'
import { arrayText, listsOf, type Row } from './lists.ts'
import { PackedEmits } from './pack-emits.ts'
import { cutLines, type Pieces } from './pack-lines.ts'
import { packRest } from './pack-rest.ts'
import { PackedRows, type Standing } from './pack-rows.ts'
import { packUsage } from './pack-task.ts'
import { separator } from './pack-texts.ts'

/** A batch as `commit_units` is given it, or `commit_units_emitting` if that is enough. */
export interface PackedBatch {
  readonly isEmitting: boolean
  readonly given: string
  /** Pieces of the log, texts of rows and bodies of emits, as `commit_units` parts them. */
  readonly lines: string
  readonly unitCount: number
  /** What it takes has nothing to do with how much is given. */
  readonly isErasing: boolean
  /** Which unit each verdict is of. */
  readonly order: readonly number[]
  /** What those units write to the log that write nothing else, by their place in the batch. */
  readonly bodies: ReadonlyMap<number, string>
}

/** Numbers things in the order in which they are first named, from 1 on as SQL does. */
class Places<Name extends string> {
  readonly names: Name[] = []
  readonly #places = new Map<Name, number>()

  of(name: Name): number {
    const known = this.#places.get(name)
    if (known !== undefined) return known
    this.names.push(name)
    this.#places.set(name, this.names.length)
    return this.names.length
  }
}

/** Throws if a unit holds what no store could take. `now` is the clock of a store that was given one. */
export function packBatch(units: readonly Unit[], now: number | undefined): PackedBatch {
  const threads = new Places<ThreadKey>()
  const tasks = new Places<TaskId>()
  const pieces: Pieces = { rows: [], lines: [] }
  const rows = new PackedRows()
  const emits = new PackedEmits(units)
  const others = emits.otherPlaces.flatMap((place) => units[place] ?? [])
  const isEmitting = others.length === 0 && units.length > 0
  const keys = isEmitting ? [] : [...new Set(units.map((unit) => unit.thread))].sort()
  for (const key of keys) threads.of(key)
  const packed = others.map((unit, index) => {
    cutLines(unit, index + 1, pieces)
    const ranges = taskRanges(unit.events, 0)
    const standing = rows.add(unit, index + 1, ranges, (id) => tasks.of(id))
    return { t: threads.of(unit.thread), ...packUnit(unit, ranges, standing, tasks) }
  })
  const locks = units.flatMap((unit) => (unit.key ? [`${principalOf(unit.thread)} ${unit.key.key}`] : []))
  const { lines } = pieces
  const bodies = emits.bodies()
  const given = {
    now,
    ...(bodies.length > 0 && { emits: emits.lists() }),
    ...(!isEmitting && {
      keys: arrayText(threads.names),
      tasks: arrayText(tasks.names.map(toColumn)),
      nextTask: nextTaskAfter(others),
      ...(locks.length > 0 && { locks: locks.map(toColumn) }),
      units: listsOf(packed),
      ...rows.lists(),
      ...(rows.texts.length > 0 && { textCount: rows.texts.length }),
      pieces: { ...listsOf(pieces.rows), isOnePerThread: isOnePerThread(others, lines.length) },
    }),
  }
  return {
    isEmitting,
    given: JSON.stringify(given),
    lines: [...lines, ...rows.texts, ...bodies].join(separator),
    unitCount: units.length,
    isErasing: units.some(({ erase, eraseTasks, trim }) => erase || eraseTasks !== undefined || trim !== undefined),
    order: [...emits.otherPlaces, ...emits.places],
    bodies: new Map(bodies.map((body, n) => [emits.places[n] ?? n, body])),
  }
}

function packUnit(unit: Unit, allRanges: ReadonlyMap<TaskId, Range>, standing: Standing, tasks: Places<TaskId>): Row {
  const { fence, report, key, askKey, lapsed } = unit
  const added = new Set(unit.tasks?.flatMap((put) => (put.isNew ? [put.record.id] : [])))
  // Nearly every event is one of the task that writes; its range needs no list.
  const own = fence && !added.has(fence.task) ? allRanges.get(fence.task) : undefined
  const others = [...allRanges].filter(([id]) => !added.has(id) && !(own && id === fence?.task))
  const body = bodyOf(
    unit,
    others.map(([id, [from, to]]) => ({ task: tasks.of(id), from, to })),
  )
  return {
    rev: unit.rev,
    fence: fence && tasks.of(fence.task),
    epoch: fence?.epoch,
    from: own?.[0],
    to: own?.[1],
    progress: fence && report?.progress,
    usage: fence && report?.usage && packUsage(report.usage),
    lapsed: toOptional(lapsed),
    key: key && JSON.stringify({ key: toColumn(key.key), digest: toColumn(key.digest), task: toColumn(key.task) }),
    ask_key: toOptional(askKey),
    events: unit.events.length,
    ...standing,
    body: body && JSON.stringify(body),
  }
}

/** What most units do not have. */
function bodyOf(unit: Unit, ranges: readonly unknown[]): Record<string, unknown> | undefined {
  const { erase, eraseTasks, trim, wakes } = unit
  const rest = packRest(unit)
  const body = { erase, eraseTasks, trim, wakes, ...(ranges.length > 0 && { ranges }), ...(rest && { rest }) }
  return Object.values(body).some((value) => value !== undefined) ? body : undefined
}

/** Then nothing has to be put together. */
function isOnePerThread(units: readonly Unit[], pieceCount: number): boolean {
  return new Set(units.flatMap((unit) => (unit.events.length > 0 ? [unit.thread] : []))).size === pieceCount
}

/** The lowest number above those of the tasks that are added. A restored task brings a number nobody handed out. */
function nextTaskAfter(units: readonly Unit[]): number | undefined {
  const added = units.flatMap((unit) => unit.tasks?.filter((put) => put.isNew) ?? [])
  const numbers = added.flatMap((put) => taskNumber(put.record.id) ?? [])
  return numbers.length === 0 ? undefined : numbers.reduce((max, number) => Math.max(max, number)) + 1
}
