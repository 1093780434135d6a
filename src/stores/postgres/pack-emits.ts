import type { EventDraft } from '../../core/event.ts'
import type { Fence, Unit } from '../../core/unit.ts'
import { toColumn } from './column-text.ts'
import { listsOf } from './lists.ts'
import { lineOf } from './pack-lines.ts'

// A reader that wants the last event of a row reads all of it. What is longer is cut, as other units are.
const bodyLengthMax = 65_536
const prefixLengthMax = 160

interface Emit extends Unit {
  readonly fence: Fence
}

/**
 * The units of a batch that append events of one task to its thread and nothing else: nearly all that a busy node writes. Each is alone
 * in its thread, and its task writes nothing else, so it depends on no other unit of the batch, and all of them are judged and written
 * together.
 */
export class PackedEmits {
  readonly #units: readonly Emit[]
  /** Where they are in the batch, and where the others are. */
  readonly places: readonly number[]
  readonly otherPlaces: readonly number[]

  constructor(units: readonly Unit[]) {
    const perThread = countOf(units.map(({ thread }) => thread))
    const perTask = countOf(units.flatMap(({ fence }) => fence?.task ?? []))
    const emits: { readonly place: number; readonly unit: Emit }[] = []
    const otherPlaces: number[] = []
    for (const [place, unit] of units.entries()) {
      const isAlone = perThread.get(unit.thread) === 1
      if (isAlone && isEmit(unit) && perTask.get(unit.fence.task) === 1) emits.push({ place, unit })
      else otherPlaces.push(place)
    }
    // Threads are locked in the order in which they are written to.
    emits.sort((one, other) => (one.unit.thread < other.unit.thread ? -1 : 1))
    this.#units = emits.map(({ unit }) => unit)
    this.places = emits.map(({ place }) => place)
    this.otherPlaces = otherPlaces
  }

  /** As `write_emits` is given them. */
  lists(): Record<string, string> {
    const rows = this.#units.map((unit) => ({
      key: unit.thread,
      task: toColumn(unit.fence.task),
      epoch: unit.fence.epoch,
      count: unit.events.length,
      from: unit.events.findIndex(isOf(unit)),
      to: unit.events.findLastIndex(isOf(unit)),
    }))
    return listsOf(rows)
  }

  /** The rows of the log that they make. */
  bodies(): string[] {
    return this.#units.map((unit) => unit.events.map(lineOf).join('\n'))
  }
}

function countOf<Name>(names: readonly Name[]): ReadonlyMap<Name, number> {
  const counts = new Map<Name, number>()
  for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1)
  return counts
}

function isEmit(unit: Unit): unit is Emit {
  const { operation: _, thread: __, fence, events, ...rest } = unit
  if (!fence || events.length === 0 || Object.values(rest).some((value) => value !== undefined)) return false
  if (!events.some(isOf({ fence }))) return false
  let length = 0
  for (const { task, data } of events) {
    if (task !== undefined && task !== fence.task) return false
    length += data.length + prefixLengthMax
  }
  return length <= bodyLengthMax
}

function isOf({ fence }: { readonly fence: Fence }): (event: EventDraft) => boolean {
  return ({ task }) => task === fence.task
}
