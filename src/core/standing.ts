import { type EventData, isEmitted, type Range, type StoredEvent } from './event.ts'

/** Tells whether an event of a task stands. To be asked in the order of the events. */
export type Stands = (event: StoredEvent) => boolean

/**
 * Which emits of a task the resumes among these events keep: each `task.resumed` abandons those before it that are after its `keep`
 * or within its `dropped`.
 *
 * The resumes alone tell it, so who reads a long log can know it before, and need keep none of the log.
 */
export function keptBy(events: readonly StoredEvent[]): Stands {
  const ranges = events.flatMap(abandonedBy).sort((a, b) => a[0] - b[0])
  let next = 0
  let reach = 0
  return ({ seq }) => {
    for (let range = ranges[next]; range && range[0] <= seq; range = ranges[++next]) reach = Math.max(reach, range[1])
    return seq > reach
  }
}

/** What of a task's events stands after the resumes among these: the emits that they keep, and all that the runtime wrote about it. */
export function standingAfter(events: readonly StoredEvent[]): Stands {
  const isKept = keptBy(events)
  return (event) => !isEmitted(event) || isKept(event)
}

function abandonedBy({ type, seq, data }: StoredEvent): Range[] {
  if (type !== 'task.resumed') return []
  const { keep, dropped = [] } = JSON.parse(data) as EventData['task.resumed']
  return [...dropped, [keep + 1, seq - 1]]
}
