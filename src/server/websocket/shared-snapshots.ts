import type { ServerFrame } from '../../protocol/frames.ts'
import { depthMax, isLongJson } from './json-pieces.ts'

export type SnapshotFrame = Extract<ServerFrame, { readonly type: 'snapshot' }>

interface UnderWay {
  readonly key: string
  readonly frame: WeakRef<SnapshotFrame>
}

// A shorter one is encoded at once, and nothing of it is held.
const lengthMin = 256 * 1024

/**
 * What long snapshots are made from while they are on their way. Each was read from the store by itself, and a reader
 * that is slow holds it for as long as it takes: those of one thread have it once, as far as it is the same.
 *
 * Nothing is kept for its own sake: what no message is made from any more may be collected. What a running task has put
 * out by then is another text with every event, so of that each reader has its own.
 */
export class SharedSnapshots {
  #underWay: UnderWay[] = []

  /** The same snapshot, made of what others of its thread hold already. */
  share(principal: string, thread: string, frame: SnapshotFrame): SnapshotFrame {
    if (!isLongJson(frame, lengthMin)) return frame
    // No id of a thread has a slash in it.
    const key = `${thread}/${principal}`
    this.#underWay = this.#underWay.filter((other) => other.frame.deref() !== undefined)
    const known = this.#underWay.findLast((other) => other.key === key)?.frame.deref()
    const shared = known ? sharing(frame, known) : frame
    this.#underWay.push({ key, frame: new WeakRef(shared) })
    return shared
  }
}

function sharing(frame: SnapshotFrame, known: SnapshotFrame): SnapshotFrame {
  return {
    ...frame,
    messages: sharingById(frame.messages, known.messages, ({ id }) => id),
    tasks: sharingById(frame.tasks, known.tasks, ({ id }) => id),
    live: sharingById(frame.live, known.live, ({ task }) => task),
    questions: sharingById(frame.questions, known.questions, ({ id }) => id),
  }
}

function sharingById<Item>(list: readonly Item[], known: readonly Item[], idOf: (item: Item) => string): Item[] {
  const byId = new Map(known.map((item) => [idOf(item), item]))
  return list.map((item) => sharingValue(item, byId.get(idOf(item))) as Item)
}

/** The value, made of what is known: all of it if that is the same, else its members as far as they are. */
function sharingValue(value: unknown, known: unknown, depth = 0): unknown {
  // Of two texts that are the same, one is let go.
  if (value === known) return known
  // What is very deep is held by each reader itself.
  if (depth >= depthMax) return value
  if (Array.isArray(value)) return Array.isArray(known) ? sharingList(value, known, depth + 1) : value
  return isRecord(value) && isRecord(known) ? sharingRecord(value, known, depth + 1) : value
}

function sharingList(list: readonly unknown[], known: readonly unknown[], depth: number): readonly unknown[] {
  const shared = list.map((item, index) => sharingValue(item, known[index], depth))
  return shared.length === known.length && shared.every((item, index) => item === known[index]) ? known : shared
}

function sharingRecord(record: UnknownRecord, known: UnknownRecord, depth: number): UnknownRecord {
  const members = Object.keys(record).map((key) => [key, sharingValue(record[key], known[key], depth)] as const)
  const isSame = members.every(([key, member]) => Object.hasOwn(known, key) && known[key] === member)
  return isSame && Object.keys(known).length === members.length ? known : Object.fromEntries(members)
}

type UnknownRecord = Readonly<Record<string, unknown>>

function isRecord(value: unknown): value is UnknownRecord {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
