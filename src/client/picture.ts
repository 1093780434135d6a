import type { Range } from '../core/event.ts'

/** Of an event, what tells whether a picture taken earlier can go on with it. */
interface Told {
  readonly type: string
  readonly data: unknown
}

interface Data {
  readonly keep?: number
  readonly dropped?: readonly Range[]
  readonly steered?: string
}

/**
 * Whether who has only a snapshot at `head`, and what followed it, knows what this event means. If not, a newer snapshot
 * tells: a resume may abandon a part of what the snapshot shows as one; a run that was steered takes a place in
 * the queue by a message that may be older; and what was left out for its size is in the snapshot.
 */
export function tellsAll({ type, data }: Told, head: number): boolean {
  const { keep = head, dropped = [], steered } = data as Data
  if (type === 'task.resumed') return keep >= head && dropped.every(([first]) => first > head)
  if (type === 'task.accepted' && steered !== undefined) return false
  return !Object.keys(data as object).some((field) => field.endsWith('Omitted'))
}
