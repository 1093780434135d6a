import type { EventDraft, Range } from '../../core/event.ts'
import { linePrefix } from '../../core/event-line.ts'
import type { TaskId } from '../../core/id.ts'
import { taskRanges } from '../../core/stamp.ts'
import type { TaskPut, Unit } from '../../core/unit.ts'
import type { LineBytes } from './line-bytes.ts'
import { apartBody } from './task-row.ts'

/** Some lines of a unit that stand one behind the other: how many bytes, with the line feed after each, and how many events. */
export interface Piece {
  readonly bytes: number
  readonly events: number
}

/** A unit as it is given to a writer. Its events are lines of a chunk, in bytes that all units of a batch share. */
export interface PackedUnit extends Omit<Unit, 'events'> {
  /** Where its lines begin. */
  readonly from: number
  readonly pieces: readonly Piece[]
  readonly eventCount: number
  /** The first and last place of each task's events in it, from 0 on. */
  readonly ranges: ReadonlyMap<TaskId, Range>
}

export interface PackedBatch {
  readonly units: readonly PackedUnit[]
  readonly bytes: Uint8Array
}

// Lines are encoded so many characters at a time, because each time costs as much as some hundred of them.
const pieceLength = 8_192
// What a thread has less of in a commit goes into short rows, which are cut between any two lines. At least
// `longChunkLengthMin` of thread-writes.ts, below which rows are short.
const linewiseLengthMax = 16_384
const objectWeight = 128

/**
 * Packs units for a writer, on this thread or on its own. Nothing of their events is copied on the way there: it is encoded
 * to where both threads see it, as the bytes that will be in the file.
 */
export function packBatch(units: readonly Unit[], lines: LineBytes): PackedBatch {
  const packed = units.map(({ events, ...rest }) => {
    const from = lines.length
    const pieces = packLines(events, lines)
    return { ...withoutKnownInputs(rest), from, pieces, eventCount: events.length, ranges: taskRanges(events, 0) }
  })
  return { units: packed, bytes: lines.bytes }
}

/** About how many bytes a batch adds to the file. It looks at all there is, which takes some microseconds for a few units. */
export function weightOf({ units, bytes }: PackedBatch): number {
  return bytes.length + weigh(units)
}

/** Its text, and of each object in it what rows and index entries take. Records are flat: what is deep in them is text. */
function weigh(value: unknown): number {
  if (typeof value === 'string') return value.length
  if (typeof value !== 'object' || value === null) return 0
  let weight = objectWeight
  for (const part of Object.values(value)) weight += weigh(part)
  return weight
}

function packLines(events: readonly EventDraft[], lines: LineBytes): Piece[] {
  const pieces: Piece[] = []
  const lengthMax = isShort(events) ? 0 : pieceLength
  let last: EventDraft | undefined
  let prefix = ''
  let text = ''
  let count = 0
  for (const event of events) {
    if (!last || !isAlike(last, event)) prefix = checkedLine(linePrefix(event))
    last = event
    text += `${prefix}${checkedLine(event.data)}\n`
    count += 1
    if (text.length < lengthMax) continue
    pieces.push({ bytes: lines.write(text), events: count })
    text = ''
    count = 0
  }
  if (count > 0) pieces.push({ bytes: lines.write(text), events: count })
  return pieces
}

function isShort(events: readonly EventDraft[]): boolean {
  let length = 0
  for (const { data } of events) {
    length += data.length
    if (length > linewiseLengthMax) return false
  }
  return true
}

/** Whether what stands before their data is the same. */
function isAlike(one: EventDraft, other: EventDraft): boolean {
  return one.type === other.type && one.task === other.task && one.epoch === other.epoch && one.step === other.step
}

function checkedLine(text: string): string {
  if (text.includes('\n')) throw new Error('An event is one line, and this one holds a line feed')
  return text
}

/** What a task was given never changes and may be large: if it is not short, only the put that brings it takes it across. */
function withoutKnownInputs(unit: Omit<Unit, 'events'>): Omit<Unit, 'events'> {
  const isKnown = (put: TaskPut) => !put.isNew && apartBody(put.record.input) !== undefined
  if (!unit.tasks?.some(isKnown)) return unit
  const tasks = unit.tasks.map((put) => {
    const { input, ...record } = put.record
    return isKnown(put) ? { ...put, record } : put
  })
  return { ...unit, tasks }
}
