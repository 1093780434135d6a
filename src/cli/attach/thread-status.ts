import { type ConnectionState, isTerminal, type Task, type ThreadView } from '../../client/index.ts'
import { age } from '../show/ages.ts'
import { progressBar } from '../show/progress-bar.ts'
import { spinnerFrame } from '../show/status-line.ts'
import { statusWord } from '../show/status-word.ts'

/** What works in a thread: the task that is meant if it is live, else the run that is, else the one that comes next. */
export function workOf({ tasks, queue }: ThreadView, meant?: string): Task | undefined {
  const task = [...tasks.values()].find(({ id }) => id === meant)
  if (task && !isTerminal(task.status)) return task
  return [...tasks.values()].find(({ type, status }) => type === 'run' && status === 'running') ?? queue[0]
}

/** The agent that answered last. */
export function agentOf({ tasks }: ThreadView): string | undefined {
  return [...tasks.values()].findLast(({ type, agent }) => type === 'run' && agent !== undefined)?.agent
}

/** One line on how it stands. */
export function statusText(view: ThreadView, now: number, connection: ConnectionState, meant?: string): string {
  const { queue, questions, tasks } = view
  const work = workOf(view, meant)
  const others = [...tasks.values()].filter((task) => task.type !== 'run' && task.status === 'running').length
  const parts = [
    connection.state === 'live' ? undefined : 'reconnecting…',
    work ? workText(work, now) : 'idle',
    others > 0 && work?.type === 'run' ? `${others} beside it` : undefined,
    queue.length > 0 ? `${queue.length} queued` : undefined,
    questions.length > 0 ? `${questions.length} open question${questions.length > 1 ? 's' : ''}` : undefined,
    '/help',
  ]
  const isBusy = work?.status === 'running' || connection.state !== 'live'
  return `${isBusy ? spinnerFrame(now) : '·'} ${parts.filter((part) => part !== undefined).join(' · ')}`
}

function workText(task: Task, now: number): string {
  const since = task.startedAt === undefined ? '' : ` ${age(now - task.startedAt)}`
  const bar = task.progress === undefined ? '' : ` ${progressBar(task.progress)}`
  return `${task.id} ${statusWord(task).word}${since}${bar}`
}
