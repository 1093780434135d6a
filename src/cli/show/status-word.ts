import type { Status } from '../../client/index.ts'
import type { StyleName } from './show.ts'

export interface StatusWord {
  readonly glyph: string
  readonly word: string
  readonly style: StyleName
}

const words: Readonly<Record<Status, StatusWord>> = {
  pending: { glyph: '○', word: 'pending', style: 'dim' },
  running: { glyph: '●', word: 'running', style: 'cyan' },
  completed: { glyph: '✔', word: 'completed', style: 'green' },
  failed: { glyph: '✘', word: 'failed', style: 'red' },
  cancelled: { glyph: '⊘', word: 'cancelled', style: 'yellow' },
}

const cancelling: StatusWord = { glyph: '◌', word: 'cancelling', style: 'yellow' }

/** How a status is shown everywhere: never by colour or glyph alone. A running task that is asked to stop says so. */
export function statusWord(task: { readonly status: Status; readonly cancelRequestedAt?: number }): StatusWord {
  return task.status === 'running' && task.cancelRequestedAt !== undefined ? cancelling : words[task.status]
}
