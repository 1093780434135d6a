import type { Task } from 'holdfast/client'
import { useAgents, useQuestions, useThread } from 'holdfast/react'
import { Link } from 'wouter'
import { useNow } from '../../design/now.ts'
import { oneLine } from '../../design/one-line.ts'
import { taskPath } from '../../place.ts'
import { linesOf, type TaskTree } from './task-tree.ts'
import { type Waiting, waitingOf } from './waiting.ts'

interface ReasonProps {
  readonly task: Task
  readonly tree: TaskTree
}

/** Why it is what it is: how it ended, or what it waits for. */
export function Reason({ task, tree }: ReasonProps) {
  if (task.error) return <span className="min-w-0 break-words text-ink-soft">{oneLine(task.error.message)}</span>
  if (task.status === 'pending') return <PendingReason task={task} />
  return task.status === 'running' ? <RunningReason task={task} tree={tree} /> : null
}

function PendingReason({ task }: { readonly task: Task }) {
  const now = useNow()
  const { tasks, queue } = useThread(task.thread)
  const { agents, isLoading, error } = useAgents()
  const run = [...tasks.values()].find(({ type, status }) => type === 'run' && status === 'running')
  const known = isLoading || error ? undefined : agents
  return <WaitingLine waiting={waitingOf({ task, now, run, queue, questions: [], agents: known })} />
}

function RunningReason({ task, tree }: ReasonProps) {
  const now = useNow()
  const { questions } = useQuestions(task.thread)
  const ids = new Set<string>(linesOf(task, tree).map((line) => line.task.id))
  const open = questions.filter((question) => ids.has(question.task))
  return <WaitingLine waiting={waitingOf({ task, now, queue: [], questions: open })} />
}

function WaitingLine({ waiting }: { readonly waiting: Waiting | undefined }) {
  if (!waiting) return null
  const { text, task } = waiting
  const [before = '', after = ''] = task === undefined ? [text] : text.split(task)
  return (
    <span data-waiting className="min-w-0 break-words text-ink-soft">
      {before}
      {task !== undefined && (
        <Link href={taskPath(task)} className="font-mono text-xs text-accent hover:underline">
          {task}
        </Link>
      )}
      {after}
    </span>
  )
}
