import { useQuestions, useTasks, useThreads } from 'holdfast/react'
import { MessagesSquare, Plus } from 'lucide-react'
import { useMemo, useRef } from 'react'
import { useLocation } from 'wouter'
import { Button } from '../../design/button.tsx'
import { Empty } from '../../design/empty.tsx'
import { ErrorState, StaleBar } from '../../design/error-state.tsx'
import { FirstRun } from '../../design/first-run.tsx'
import { Loading } from '../../design/loading.tsx'
import { threadPath } from '../../place.ts'
import { useCommands } from '../../shell/commands.ts'
import { Page } from '../../shell/page.tsx'
import { newThreadId } from './new-thread-id.ts'
import { threadNotes } from './thread-notes.ts'
import { ThreadRow } from './thread-row.tsx'

/** All threads; the one in which something happened last is first. */
export function ThreadsView() {
  const [, go] = useLocation()
  const list = useRef<HTMLUListElement>(null)
  const startNew = () => go(threadPath(newThreadId()))
  useCommands([
    { id: 'thread-new', title: 'New thread', group: 'Thread', keys: 'n', run: startNew },
    { id: 'list-next', title: 'Next thread', group: 'List', keys: 'j', run: () => focusRow(list.current, 1) },
    { id: 'list-previous', title: 'Previous thread', group: 'List', keys: 'k', run: () => focusRow(list.current, -1) },
  ])
  return (
    <Page
      title="Threads"
      actions={
        <Button look="solid" onClick={startNew}>
          <Plus size={16} aria-hidden /> New thread
        </Button>
      }
    >
      <ThreadList listRef={list} />
    </Page>
  )
}

function ThreadList({ listRef }: { readonly listRef: React.RefObject<HTMLUListElement | null> }) {
  const { threads, hasMore, loadMore, isLoading, error, retry } = useThreads()
  const { tasks: live, hasMore: hasMoreLive } = useTasks({ status: ['running', 'pending'] })
  const { tasks: recent } = useTasks({ type: 'run' })
  const { tasks: roots } = useTasks({ roots: true })
  const { questions } = useQuestions()
  const notes = useMemo(() => threadNotes({ live, recent, roots, questions }), [live, recent, roots, questions])
  if (error && threads.length === 0) return <ErrorState error={error} what="list of threads" onRetry={retry} />
  if (isLoading) return <Loading />
  if (threads.length === 0) {
    return (
      <Empty icon={MessagesSquare} title="There are no threads yet">
        <p>A thread is a conversation that keeps its runs. It begins with the first prompt: start a new one, or ask</p>
        <FirstRun flags="--thread first" />
      </Empty>
    )
  }
  return (
    <>
      {error && <StaleBar error={error} onRetry={retry} />}
      <div className="scroller min-h-0 flex-1">
        <ul ref={listRef} aria-label="Threads" className="divide-y divide-line border-b border-line">
          {threads.map((line) => (
            <ThreadRow key={line.thread} line={line} note={notes.get(line.thread)} hasMoreLive={hasMoreLive} />
          ))}
        </ul>
        {hasMore && (
          <div className="flex justify-center p-4">
            <Button onClick={() => void loadMore()}>Older threads</Button>
          </div>
        )}
      </div>
    </>
  )
}

function focusRow(list: HTMLElement | null, by: 1 | -1): void {
  const rows = [...(list?.querySelectorAll<HTMLElement>('a') ?? [])]
  const at = rows.indexOf(document.activeElement as HTMLElement)
  const next = at === -1 ? 0 : Math.min(Math.max(at + by, 0), rows.length - 1)
  rows[next]?.focus()
}
