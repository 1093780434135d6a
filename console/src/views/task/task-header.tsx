import { isTerminal, type Task } from 'holdfast/client'
import { ChevronRight, CircleStop, MessageSquarePlus } from 'lucide-react'
import type { ReactNode } from 'react'
import { Link } from 'wouter'
import { Button } from '../../design/button.tsx'
import { CopyMenu } from '../../design/copy-menu.tsx'
import { Status, shownStatus } from '../../design/status.tsx'
import { taskTitle } from '../../design/task-title.ts'
import { Age, Duration } from '../../design/time.tsx'
import { taskPath, threadPath } from '../../place.ts'
import { comesBack, lastListPath } from '../tasks/list-place.ts'
import { copyables } from './copyables.ts'
import { Reason } from './reason.tsx'
import { hasInbox } from './send-dialog.tsx'
import type { TaskTree } from './task-tree.ts'

interface TaskHeaderProps {
  readonly task: Task
  readonly tree: TaskTree
  readonly onCancel: () => void
  readonly onSend: () => void
}

export function TaskHeader({ task, tree, onCancel, onSend }: TaskHeaderProps) {
  const status = shownStatus(task)
  const isLive = !isTerminal(task.status)
  return (
    <header className="flex flex-col gap-2 px-4 pt-4 pb-2 md:px-6">
      <Breadcrumb path={tree.path} />
      <div className="flex flex-wrap items-start justify-between gap-x-6 gap-y-2">
        <h1 className="min-w-0 flex-1 basis-64 text-lg font-semibold break-words">{taskTitle(task)}</h1>
        <div className="flex flex-wrap gap-2">
          {isLive && hasInbox(task) && (
            <Button onClick={onSend}>
              <MessageSquarePlus size={14} aria-hidden /> Send message
            </Button>
          )}
          <CopyMenu items={copyables(task)} />
          {isLive && (
            <Button look="danger" disabled={status === 'cancelling'} onClick={onCancel}>
              <CircleStop size={14} aria-hidden /> {status === 'cancelling' ? 'cancelling…' : 'Cancel'}
            </Button>
          )}
        </div>
      </div>
      <div className="flex flex-wrap items-center gap-x-3 gap-y-1">
        <span role="status">
          <Status status={status} isBadge />
        </span>
        <Reason task={task} tree={tree} />
      </div>
      <Facts task={task} />
    </header>
  )
}

function Breadcrumb({ path }: { readonly path: readonly Task[] }) {
  return (
    <nav aria-label="Where it comes from" className="flex flex-wrap items-center gap-1 text-xs text-ink-soft">
      <Link href={lastListPath()} state={comesBack} className="hover:text-accent">
        Tasks
      </Link>
      {path.map((task, at) => (
        <span key={task.id} className="flex items-center gap-1">
          <ChevronRight size={12} aria-hidden className="text-ink-faint" />
          {at === path.length - 1 ? (
            <span aria-current="page" className="font-mono">
              {task.id}
            </span>
          ) : (
            <Link href={taskPath(task.id)} className="max-w-56 truncate hover:text-accent">
              {taskTitle(task, 40)}
            </Link>
          )}
        </span>
      ))}
    </nav>
  )
}

function Facts({ task }: { readonly task: Task }) {
  const { agent, type, thread, attempt, createdAt, startedAt, completedAt, name, progress, status } = task
  return (
    <dl className="flex flex-wrap gap-x-5 gap-y-1 text-xs">
      <Fact name="Agent">{agent ?? type}</Fact>
      {name !== undefined && <Fact name="Name">{name}</Fact>}
      <Fact name="Thread">
        <Link href={threadPath(thread)} className="text-accent hover:underline">
          {thread}
        </Link>
      </Fact>
      <Fact name="Attempt">{attempt}</Fact>
      <Fact name="Queued">
        <Duration from={createdAt} to={startedAt ?? completedAt} />
      </Fact>
      {startedAt !== undefined && (
        <Fact name={completedAt === undefined ? 'Running' : 'Ran'}>
          <Duration from={startedAt} to={completedAt} />
        </Fact>
      )}
      {progress !== undefined && status === 'running' && <Fact name="Progress">{Math.round(progress * 100)} %</Fact>}
      <Fact name="Age">
        <Age at={createdAt} />
      </Fact>
    </dl>
  )
}

function Fact({ name, children }: { readonly name: string; readonly children: ReactNode }) {
  return (
    <div className="flex max-w-full gap-1.5">
      <dt className="text-ink-faint">{name}</dt>
      <dd className="min-w-0 font-medium break-words">{children}</dd>
    </div>
  )
}
