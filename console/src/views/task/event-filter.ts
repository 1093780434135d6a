import type { ThreadEvent } from 'holdfast/client'
import { summaryOf } from './event-summary.ts'

// An event never changes, so what is searched in it is made once.
const texts = new WeakMap<ThreadEvent, string>()

function textOf(event: ThreadEvent): string {
  const known = texts.get(event)
  if (known !== undefined) return known
  const text = `#${event.seq} ${event.task ?? ''} ${event.type} ${summaryOf(event)}`.toLowerCase()
  texts.set(event, text)
  return text
}

/** Those in which every word is found: in the number, the task, the type or the line. */
export function matchingEvents(events: readonly ThreadEvent[], text: string): readonly ThreadEvent[] {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean)
  return words.length === 0 ? events : events.filter((event) => words.every((word) => textOf(event).includes(word)))
}

/** How many come after a number. They are in order, and few are new. */
export function countAfter(events: readonly ThreadEvent[], seq: number): number {
  let count = 0
  for (let at = events.length - 1; at >= 0 && (events[at]?.seq ?? 0) > seq; at -= 1) count += 1
  return count
}

/** What a later attempt abandoned: what its task had put out after the last finished step. */
export function abandonedIn(events: readonly ThreadEvent[]): ReadonlySet<number> {
  const abandoned = new Set<number>()
  for (const resumed of events) {
    if (resumed.type !== 'task.resumed') continue
    const { keep, dropped = [] } = resumed.data
    for (const { seq, task, type } of events) {
      if (seq >= resumed.seq) break
      const isDropped = seq > keep || dropped.some(([first, last]) => seq >= first && seq <= last)
      if (isDropped && task === resumed.task && emitted.has(type)) abandoned.add(seq)
    }
  }
  return abandoned
}

const emitted = new Set([
  'text.delta',
  'thinking',
  'tool.call',
  'tool.result',
  'file',
  'answer',
  'progress',
  'custom',
  'usage',
])
