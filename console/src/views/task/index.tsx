import { isTerminal, type Task } from 'holdfast/client'
import { type UseTaskResult, useTask } from 'holdfast/react'
import { useMemo, useState } from 'react'
import { useLocation } from 'wouter'
import { CancelDialog } from '../../design/cancel-dialog.tsx'
import { copyAndSay } from '../../design/copy-menu.tsx'
import { ErrorState, StaleBar } from '../../design/error-state.tsx'
import { Loading } from '../../design/loading.tsx'
import { type Tab, Tabs } from '../../design/tabs.tsx'
import { taskTitle } from '../../design/task-title.ts'
import { taskPath } from '../../place.ts'
import { useCommands } from '../../shell/commands.ts'
import { Page } from '../../shell/page.tsx'
import { comesBack, lastListPath } from '../tasks/list-place.ts'
import { EventsTab } from './events-tab.tsx'
import { Overview } from './overview.tsx'
import { hasInbox, SendDialog } from './send-dialog.tsx'
import { TaskHeader } from './task-header.tsx'
import { type TaskTab, useTaskPlace } from './task-place.ts'
import { failingLeaf, linesOf } from './task-tree.ts'
import { Timeline } from './timeline.tsx'
import { useTaskTree } from './use-task-tree.ts'

/** One task: what it is, what came of it, when what of its tree ran, and what happened. */
export function TaskView({ id }: { readonly id: string }) {
  const one = useTask(id)
  if (one.task) return <TaskPage task={one.task} one={one} />
  return (
    <Page title={id}>{one.error ? <ErrorState error={one.error} what="task" onRetry={one.retry} /> : <Loading />}</Page>
  )
}

function TaskPage({ task, one }: { readonly task: Task; readonly one: UseTaskResult }) {
  const [place, go] = useTaskPlace()
  const { tree, isCut } = useTaskTree(task)
  const leaf = failingLeaf(task, tree)
  const lines = useMemo(() => linesOf(tree.root, tree), [tree])
  const [isCancelling, setCancelling] = useState(false)
  const [isSending, setSending] = useState(false)
  useTaskCommands(task, { cancel: () => setCancelling(true), message: () => setSending(true) })
  const tabs: readonly Tab<TaskTab>[] = [
    { name: 'overview', title: 'Overview' },
    { name: 'timeline', title: 'Timeline', ...(lines.length > 1 && { note: lines.length }) },
    { name: 'events', title: 'Events' },
  ]
  return (
    <Page
      title={taskTitle(task, 60)}
      header={
        <TaskHeader task={task} tree={tree} onCancel={() => setCancelling(true)} onSend={() => setSending(true)} />
      }
    >
      {one.error && <StaleBar error={one.error} onRetry={one.retry} />}
      {isCut && (
        <p className="px-4 text-xs text-ink-soft md:px-6">
          Part of this tree is not shown: too many tasks of its thread came after it.
        </p>
      )}
      <Tabs label="Task" tabs={tabs} value={place.tab} onChange={(tab) => go({ tab })}>
        {place.tab === 'overview' && <Overview task={task} tree={tree} leaf={leaf} />}
        {place.tab === 'timeline' && (
          <Timeline lines={lines} current={leaf.id} onPick={(of) => go({ tab: 'events', of })} />
        )}
        {place.tab === 'events' && (
          <EventsTab
            key={place.of ?? leaf.id}
            of={place.of ?? leaf.id}
            thread={task.thread}
            lines={lines}
            text={place.text}
            onText={(text) => go({ text })}
            onOf={(of) => go({ of })}
          />
        )}
      </Tabs>
      <CancelDialog ids={isCancelling ? [task.id] : []} onClose={() => setCancelling(false)} />
      <SendDialog isOpen={isSending} task={task} send={one.send} onClose={() => setSending(false)} />
    </Page>
  )
}

interface TaskActions {
  readonly cancel: () => void
  readonly message: () => void
}

function useTaskCommands(task: Task, { cancel, message }: TaskActions): void {
  const [, navigate] = useLocation()
  const [, go] = useTaskPlace()
  const { parent } = task
  const isLive = !isTerminal(task.status)
  useCommands([
    ...(parent?.task === undefined
      ? [
          {
            id: 'up',
            title: 'To the list',
            group: 'Task' as const,
            keys: 'u',
            run: () => navigate(lastListPath(), { state: comesBack }),
          },
        ]
      : [
          {
            id: 'up',
            title: 'To the parent',
            group: 'Task' as const,
            keys: 'u',
            run: () => navigate(taskPath(parent.task ?? '')),
          },
        ]),
    ...(isLive ? [{ id: 'cancel', title: 'Cancel this tree', group: 'Task' as const, keys: 'c', run: cancel }] : []),
    ...(isLive && hasInbox(task)
      ? [{ id: 'message', title: 'Send a message', group: 'Task' as const, keys: 'm', run: message }]
      : []),
    {
      id: 'copy-link',
      title: 'Copy the link',
      group: 'Task',
      keys: 'y',
      run: () => void copyAndSay('link', location.href),
    },
    { id: 'overview', title: 'Overview', group: 'Task', keys: '1', run: () => go({ tab: 'overview' }) },
    { id: 'timeline', title: 'Timeline', group: 'Task', keys: '2', run: () => go({ tab: 'timeline' }) },
    { id: 'events', title: 'Events', group: 'Task', keys: '3', run: () => go({ tab: 'events' }) },
  ])
}
