import type { TaskId } from '../core/id.ts'
import { isTerminal, type Status } from '../core/status.ts'
import type { TaskSummary } from './persisted-task.ts'

/** A task as an agent is shown it: short enough that a list of them fits into a prompt. */
export interface TaskLine {
  readonly id: TaskId
  readonly name?: string
  readonly status: Status
  readonly description: string
  readonly error?: string
  readonly result?: string
}

/** The live tasks, then those that ended last; each in the order of acceptance. */
export type TaskView = readonly TaskLine[]

/** What changes a view. */
export type ViewChange =
  | { readonly kind: 'replace'; readonly tasks: Iterable<TaskSummary> }
  | { readonly kind: 'clear' }

// What a model reads at every call: enough to know what goes on, not the history.
const endedCountMax = 20
const textLengthMax = 160

/** The view after a change; what was given is left as it is. */
export function reduceView(_view: TaskView, change: ViewChange): TaskView {
  if (change.kind === 'clear') return []
  const tasks = [...change.tasks].sort((a, b) => a.createdAt - b.createdAt || a.seq - b.seq)
  const live = tasks.filter((task) => !isTerminal(task.status))
  const ended = tasks.filter((task) => isTerminal(task.status)).slice(-endedCountMax)
  return [...live, ...ended].map(toLine)
}

/** The view as text, one line for each task. */
export function viewText(view: TaskView): string {
  return view.map(lineText).join('\n')
}

function toLine({ id, name, status, description, error, result }: TaskSummary): TaskLine {
  return {
    id,
    ...(name !== undefined && { name }),
    status,
    description: short(description),
    ...(error && { error: short(`${error.code}: ${error.message}`) }),
    ...(result !== undefined && { result: short(typeof result === 'string' ? result : JSON.stringify(result)) }),
  }
}

function lineText({ id, name, status, description, error, result }: TaskLine): string {
  const ending = error ?? result
  const head = [short(id), ...(name === undefined ? [] : [name]), `[${status}]`, description].join(' ')
  return ending === undefined ? head : `${head} → ${ending}`
}

/** On one line, whatever it holds: a description or a result must not look like a line of its own. */
function short(text: string): string {
  // More is never shown, so more need not be looked at.
  const line = text
    .slice(0, textLengthMax * 4)
    .replace(/[\s\p{Cc}\p{Cf}]+/gu, ' ')
    .trim()
  const characters = [...line]
  return characters.length <= textLengthMax ? line : `${characters.slice(0, textLengthMax - 1).join('')}…`
}
