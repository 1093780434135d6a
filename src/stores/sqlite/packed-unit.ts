import type { Range } from '../../core/event.ts'
import { encodeLine } from '../../core/event-line.ts'
import type { TaskId } from '../../core/id.ts'
import { taskRanges } from '../../core/stamp.ts'
import type { Unit } from '../../core/unit.ts'

/** A unit as it is given to the writer's thread: text crosses at a fraction of what as many objects cost. */
export interface PackedUnit extends Omit<Unit, 'events'> {
  /** Its events as lines of a chunk, in one text. */
  readonly lines: string
  readonly eventCount: number
  /** The first and last place of each task's events in it, from 0 on. */
  readonly ranges: ReadonlyMap<TaskId, Range>
}

export function packUnit({ events, ...rest }: Unit): PackedUnit {
  const lines = events.map(encodeLine).join('\n')
  return { ...withoutKnownInputs(rest), lines, eventCount: events.length, ranges: taskRanges(events, 0) }
}

/** What a task was given never changes and may be large: only the put that brings it takes it across. */
function withoutKnownInputs(unit: Omit<Unit, 'events'>): Omit<Unit, 'events'> {
  if (!unit.tasks?.some((put) => !put.isNew && put.record.input !== undefined)) return unit
  const tasks = unit.tasks.map((put) => {
    const { input, ...record } = put.record
    return put.isNew ? put : { ...put, record }
  })
  return { ...unit, tasks }
}
