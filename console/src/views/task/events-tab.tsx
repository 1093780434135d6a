import { useVirtualizer } from '@tanstack/react-virtual'
import { isTerminal } from 'holdfast/client'
import { ScrollText } from 'lucide-react'
import { useCallback, useRef, useState } from 'react'
import { Button } from '../../design/button.tsx'
import { Empty } from '../../design/empty.tsx'
import { ErrorState, StaleBar } from '../../design/error-state.tsx'
import { Loading } from '../../design/loading.tsx'
import { useCommands } from '../../shell/commands.ts'
import { EventLog } from './event-log.tsx'
import { EventsBar } from './events-bar.tsx'
import type { TreeLine } from './task-tree.ts'
import { useFollow } from './use-follow.ts'
import { useLog } from './use-log.ts'

interface EventsTabProps {
  /** Whose events: a task of the tree, or `tree`. */
  readonly of: string
  readonly thread: string
  readonly lines: readonly TreeLine[]
  readonly text: string
  readonly onText: (text: string) => void
  readonly onOf: (of: string) => void
}

const rowHeight = 29

/** What happened, as it happens. */
export function EventsTab(props: EventsTabProps) {
  const { of, lines, text, onText } = props
  const { isTree, events, shown, abandoned, letGo, error, isLoading, retry } = useLog(props)
  const [open, setOpen] = useState<ReadonlySet<number>>(new Set())
  const [cursor, setCursor] = useState<number>()
  const scrollerRef = useRef<HTMLDivElement>(null)
  const inputRef = useRef<HTMLInputElement>(null)
  const virtual = useVirtualizer<HTMLDivElement, Element>({
    count: shown.length,
    getScrollElement: () => scrollerRef.current,
    estimateSize: () => rowHeight,
    getItemKey: useCallback((index: number) => shown[index]?.seq ?? index, [shown]),
    overscan: 20,
    useFlushSync: false,
  })
  const isLive = lines.some(({ task }) => (isTree || task.id === of) && !isTerminal(task.status))
  const follow = useFollow(shown, virtual, isLive)
  const toggle = useCallback((seq: number) => setOpen((now) => now.symmetricDifference(new Set([seq]))), [])
  const move = (by: number) => {
    const at = shown.findIndex(({ seq }) => seq === cursor)
    const next = at < 0 ? (virtual.getVirtualItems()[0]?.index ?? 0) : Math.min(shown.length - 1, Math.max(0, at + by))
    setCursor(shown[next]?.seq)
    virtual.scrollToIndex(next)
  }
  useCommands([
    { id: 'follow', title: 'Follow, or pause', group: 'Task', keys: 'f', run: follow.toggle },
    { id: 'filter', title: 'Filter the events', group: 'Task', keys: '/', run: () => inputRef.current?.focus() },
    { id: 'next', title: 'Next event', group: 'Task', keys: 'j', run: () => move(1) },
    { id: 'previous', title: 'Previous event', group: 'Task', keys: 'k', run: () => move(-1) },
    { id: 'open', title: 'Unfold the event', group: 'Task', keys: 'Enter', run: () => cursor && toggle(cursor) },
  ])
  if (error && events.length === 0) return <ErrorState error={error} what="log" onRetry={retry} />
  const counts = { shownCount: shown.length, allCount: events.length, letGo }
  const shownLog = { virtual, scrollerRef, open, cursor, abandoned, hasTask: isTree }
  return (
    <>
      {error && <StaleBar error={error} onRetry={retry} />}
      <EventsBar {...props} {...counts} inputRef={inputRef} follow={follow} isLive={isLive} />
      {isLoading && events.length === 0 ? (
        <Loading />
      ) : shown.length === 0 ? (
        <Empty icon={ScrollText} title={emptyTitle(events.length, letGo)}>
          {text !== '' && <Button onClick={() => onText('')}>Clear the filter</Button>}
        </Empty>
      ) : (
        <EventLog events={shown} {...shownLog} onScroll={follow.onScroll} onToggle={toggle} />
      )}
    </>
  )
}

function emptyTitle(eventCount: number, letGo: number): string {
  if (eventCount > 0) return 'No event matches'
  return letGo > 0
    ? 'Its events are older than those kept here: choose a task, or save them'
    : 'Nothing has happened yet'
}
