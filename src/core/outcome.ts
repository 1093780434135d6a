import type { TaskError } from './errors.ts'
import type { JsonText } from './id.ts'

/** How a task ended. It was forced if its code had not ended by then. Without a message, what is known of its cancel is said. */
export type Outcome =
  | { readonly status: 'completed'; readonly result?: JsonText }
  | { readonly status: 'failed'; readonly error: TaskError; readonly isForced?: true }
  | { readonly status: 'cancelled'; readonly message?: string; readonly isForced?: true }

const mark = Symbol.for('holdfast.ending')

/** What an agent returns or throws to end its task as something other than completed. */
export interface StatedEnding {
  readonly [mark]: true
  readonly status: 'failed' | 'cancelled'
  readonly message: string
}

/** Ends the task as failed with this text, returned or thrown: `return failed('no such page')`. */
export function failed(message: string): StatedEnding {
  return { [mark]: true, status: 'failed', message: shortened(message) }
}

/** Ends the task as cancelled by itself, returned or thrown. */
export function cancelled(message = 'The task was cancelled by itself'): StatedEnding {
  const text = shortened(message)
  return { [mark]: true, status: 'cancelled', message: text.includes('cancelled') ? text : `cancelled: ${text}` }
}

export function isStatedEnding(value: unknown): value is StatedEnding {
  return typeof value === 'object' && value !== null && mark in value
}

/** The outcome that an agent stated by returning or throwing one of the above. */
export function statedOutcome(ending: StatedEnding): Outcome {
  if (ending.status === 'cancelled') return { status: 'cancelled', message: ending.message }
  return { status: 'failed', error: { code: 'agent_error', message: ending.message } }
}

/** The outcome of code that threw, whatever it threw. */
export function thrownOutcome(thrown: unknown): Outcome {
  if (isStatedEnding(thrown)) return statedOutcome(thrown)
  return { status: 'failed', error: { code: 'agent_error', message: errorText(thrown) } }
}

/** A sentence for whatever was thrown: an error's message, or the value itself. Never throws. */
export function errorText(thrown: unknown, thrower = 'The agent'): string {
  return shortened(wholeText(thrown, thrower))
}

// A character takes at most six bytes as JSON, so a text of this length leaves room in an event of 256 KiB.
const textLengthMax = 32 * 1024

/** An error is read by people and kept with the task for ever: what is beyond this length is a dump, and cut off. */
function shortened(text: string): string {
  if (text.length <= textLengthMax) return text
  // A character of two units stays whole, or goes.
  return `${text.slice(0, textLengthMax).replace(/[\ud800-\udbff]$/, '')}…`
}

function wholeText(thrown: unknown, thrower: string): string {
  if (typeof thrown === 'string') return thrown
  try {
    if (thrown instanceof Error) return String(thrown.message || thrown.name)
    return `${thrower} threw ${(JSON.stringify(thrown) as string | undefined) ?? String(thrown)}`
  } catch {
    // A cycle, a BigInt, or a getter, toJSON or proxy that throws: only its type can be told.
    return `${thrower} threw a value of type ${typeof thrown}`
  }
}
