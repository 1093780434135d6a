import type { EventDraft } from '../../core/event.ts'
import { encodeLine } from '../../core/event-line.ts'
import type { Unit } from '../../core/unit.ts'
import type { Row } from './lists.ts'
import { checkedText } from './pack-texts.ts'

// A piece is not cut when rows are made of pieces.
const pieceLengthMax = 32_768

export interface Pieces {
  /** Of which unit each is, where it begins in it, and how many events it has. */
  readonly rows: Row[]
  readonly lines: string[]
}

/** Throws if the event could not be told from its neighbours. */
export function lineOf(event: EventDraft): string {
  const line = encodeLine(event)
  if (line.includes('\n')) throw new Error(`An event ${event.type} holds a raw line feed`)
  return checkedText(line, `An event ${event.type}`)
}

/** Whole lines, together not much longer than a piece. */
export function cutLines({ events }: Unit, unit: number, pieces: Pieces): void {
  let from = 0
  let text = ''
  for (const [index, event] of events.entries()) {
    const line = lineOf(event)
    text = index === from ? line : `${text}\n${line}`
    if (text.length < pieceLengthMax && index < events.length - 1) continue
    pieces.rows.push({ unit, from, count: index + 1 - from })
    pieces.lines.push(text)
    from = index + 1
  }
}
