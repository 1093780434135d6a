import { HoldfastError } from '../core/errors.ts'
import type { EventData } from '../core/event.ts'
import type { Usage } from '../core/task.ts'

/** What an agent emits is in the log for ever, so what has no meaning there is refused to the agent. */
export function checkedText(what: string, text: string): string {
  if (typeof text === 'string') return text
  throw invalid(`${what} is a string`)
}

export function checkedProgress(value: number, note: string | undefined): EventData['progress'] {
  if (typeof value !== 'number' || !(value >= 0 && value <= 1)) throw invalid('Progress is a number from 0 to 1')
  return { value, ...(note !== undefined && { note: checkedText('The note of a progress', note) }) }
}

/** A copy, so that what is counted is what was encoded. */
export function checkedUsage(usage: Usage): Usage {
  const isCounts = typeof usage === 'object' && usage !== null && Object.values(usage).every(Number.isFinite)
  if (!isCounts) throw invalid('Usage is an object of numbers')
  return { ...usage }
}

/** Inside an object JSON leaves these out without a word. */
export function encodable<Value>(what: string, value: Value): Value {
  if (typeof value !== 'function' && typeof value !== 'symbol') return value
  throw new HoldfastError('not_serialisable', `${what} is a ${typeof value}, which JSON cannot hold`)
}

function invalid(message: string): HoldfastError {
  return new HoldfastError('invalid_request', message)
}
