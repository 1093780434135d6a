import type { ThreadEvent } from '../../client/index.ts'
import { nearestHint } from '../nearest.ts'
import type { Show } from '../show/show.ts'

const known: Readonly<Record<ThreadEvent['type'], true>> = {
  'task.accepted': true,
  'task.started': true,
  'task.resumed': true,
  'task.cancelling': true,
  'task.completed': true,
  'task.failed': true,
  'task.cancelled': true,
  'message.created': true,
  'text.delta': true,
  thinking: true,
  'tool.call': true,
  'tool.result': true,
  file: true,
  answer: true,
  progress: true,
  usage: true,
  custom: true,
  'inbox.accepted': true,
  'question.asked': true,
  'question.answered': true,
  'question.closed': true,
}

/** Says of types that are not known that they are not: a server may be newer and have them, or they are mistyped. */
export function noticeUnknownTypes({ notice }: Pick<Show, 'notice'>, types: readonly string[] = []): void {
  for (const type of types) {
    if (!Object.hasOwn(known, type)) {
      notice(`No event type ${type} is known here${nearestHint(type, Object.keys(known))}`)
    }
  }
}
