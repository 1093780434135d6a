import type { ThreadEvent } from 'holdfast/client'
import { oneLine } from '../../design/one-line.ts'

/** What an event says, in one line of text. */
export function summaryOf(event: ThreadEvent): string {
  return oneLine(textOf(event))
}

function textOf(event: ThreadEvent): unknown {
  switch (event.type) {
    case 'task.accepted':
      return event.data.task.description
    case 'task.started':
      return `attempt ${event.data.attempt} on ${event.data.node}`
    case 'task.resumed':
      return `attempt ${event.data.attempt} on ${event.data.node}, after #${event.data.keep}`
    case 'task.cancelling':
      return `by ${event.data.by}${withReason(event.data.reason)}`
    case 'task.completed':
      return event.data.resultOmitted ? 'a result too large for an event' : (event.data.result ?? 'done')
    case 'task.failed':
      return `${event.data.error.code}: ${event.data.error.message}`
    case 'task.cancelled':
      return `${event.data.forced ? 'forced: ' : ''}${event.data.error.message}`
    case 'message.created':
      return `${event.data.message.role}: ${messageText(event.data)}`
    case 'inbox.accepted':
      return `${event.data.from === undefined ? '' : `${event.data.from}: `}${oneLine(event.data.content)}`
    case 'question.asked':
      return event.data.question.text
    case 'question.answered':
      return `${event.data.by}: ${oneLine(event.data.answer)}`
    case 'question.closed':
      return event.data.reason === 'timeout' ? 'nobody answered in time' : 'its task has ended'
    default:
      return emittedText(event)
  }
}

function emittedText(event: ThreadEvent): unknown {
  switch (event.type) {
    case 'text.delta':
    case 'thinking':
      return event.data.text
    case 'tool.call':
      return `${event.data.name} ${oneLine(event.data.input)}`
    case 'tool.result':
      if (event.data.outputOmitted) return 'an output too large for an event'
      return event.data.error === undefined ? event.data.output : `error: ${event.data.error}`
    case 'file':
      return event.data.name ?? event.data.mediaType
    case 'answer':
      return event.data.output
    case 'progress':
      return `${Math.round(event.data.value * 100)} %${event.data.note === undefined ? '' : ` ${event.data.note}`}`
    case 'usage':
      return Object.entries(event.data)
        .map(([name, count]) => `${name} ${count}`)
        .join(', ')
    case 'custom':
      return `${event.data.name} ${event.data.payload === undefined ? '' : oneLine(event.data.payload)}`
    default:
      return event.data
  }
}

function withReason(reason: string | undefined): string {
  return reason === undefined ? '' : `: ${reason}`
}

function messageText({ message, partsOmitted }: Extract<ThreadEvent, { type: 'message.created' }>['data']): string {
  if (partsOmitted) return 'a message too large for an event'
  return message.parts.map((part) => ('text' in part ? part.text : `[${part.type}]`)).join(' ')
}
