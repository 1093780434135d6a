import type { Message, Part, ThreadEvent } from '../../client/index.ts'
import { percent } from '../show/progress-bar.ts'

/** What stands for a value that was left out for its size. The task has it. */
export const tooLarge = '(too large to be shown here)'

/** What an event says, in one line as far as it is up to us: what agents and people wrote is still to be made plain. */
export function summaryOf(event: ThreadEvent): string {
  switch (event.type) {
    case 'task.accepted': {
      const { agent, type, name, description } = event.data.task
      return joined([agent ?? type, name && `(${name})`, description !== agent && description])
    }
    case 'task.started':
      return `attempt ${event.data.attempt} on ${event.data.node}`
    case 'task.resumed':
      return `attempt ${event.data.attempt} on ${event.data.node}`
    case 'task.cancelling':
      return `by ${event.data.by}${event.data.reason ? `: ${event.data.reason}` : ''}`
    case 'task.completed':
      return event.data.resultOmitted ? tooLarge : valueText(event.data.result)
    case 'task.failed':
      return `${event.data.error.code}: ${event.data.error.message}`
    case 'task.cancelled':
      return joined([event.data.error.message, event.data.forced && '(its code did not stop and was left alone)'])
    case 'message.created':
      return `${event.data.message.role}: ${event.data.partsOmitted ? '(too large)' : messageText(event.data.message)}`
    case 'text.delta':
    case 'thinking':
      return event.data.text
    case 'tool.call':
      return `${event.data.name}(${valueText(event.data.input)}) ${event.data.id}`
    case 'tool.result':
      return `${event.data.id} → ${toolOutcome(event.data)}`
    case 'answer':
      return valueText(event.data.output)
    case 'progress':
      return joined([percent(event.data.value), event.data.note])
    case 'custom':
      return joined([event.data.name, event.data.payload !== undefined && valueText(event.data.payload)])
    case 'inbox.accepted':
      return joined([event.data.from && `from ${event.data.from}:`, valueText(event.data.content)])
    case 'question.asked':
      return `${event.data.question.id}: ${event.data.question.text}${optionsText(event.data.question.options)}`
    case 'question.answered':
      return `${event.data.id} by ${event.data.by}: ${valueText(event.data.answer)}`
    case 'question.closed':
      return `${event.data.id}: ${event.data.reason}`
    default:
      // `usage`, and types that are newer than this program.
      return valueText(event.data)
  }
}

/** A text as it is, anything else as JSON. */
export function valueText(value: unknown): string {
  if (value === undefined) return ''
  return typeof value === 'string' ? value : JSON.stringify(value)
}

export function messageText({ parts }: Pick<Message, 'parts'>): string {
  return parts.flatMap((part) => partText(part) ?? []).join(' ')
}

export function optionsText(options: readonly string[] | undefined): string {
  return options && options.length > 0 ? ` [${options.join(' / ')}]` : ''
}

export function toolOutcome({ output, error }: { readonly output?: unknown; readonly error?: string }): string {
  return error === undefined ? valueText(output) || 'done' : `error: ${error}`
}

function partText(part: Part): string | undefined {
  switch (part.type) {
    case 'text':
      return part.text
    case 'reasoning':
      return undefined
    case 'tool':
      return `${part.name}(${valueText(part.input)})`
    case 'file':
      return `(file ${part.name ?? part.mediaType})`
    case 'data':
      return valueText(part.value)
  }
}

function joined(words: readonly (string | false | undefined)[]): string {
  return words.filter((word) => word !== undefined && word !== false && word !== '').join(' ')
}
