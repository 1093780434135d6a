import { isTerminal, type Task } from 'holdfast/client'
import { useTasks } from 'holdfast/react'
import { useCallback, useMemo, useRef, useState } from 'react'
import { useLocation } from 'wouter'
import { CancelDialog } from '../../design/cancel-dialog.tsx'
import { ErrorState, StaleBar } from '../../design/error-state.tsx'
import { Loading } from '../../design/loading.tsx'
import { useStable } from '../../design/use-stable.ts'
import { taskPath } from '../../place.ts'
import { Page } from '../../shell/page.tsx'
import { ChildrenReader } from './children-reader.tsx'
import { FilterBar } from './filter-bar.tsx'
import { focusList, useFocusAfter } from './focus-list.ts'
import { useHeldTasks } from './held-tasks.ts'
import { ListEnd } from './list-end.tsx'
import { NoTasks } from './no-tasks.tsx'
import { SelectionBar } from './selection-bar.tsx'
import {
  isFilteredHere,
  isNarrow,
  matching,
  queryOf,
  type TaskFilter,
  unfiltered,
  useTaskFilter,
} from './task-filter.ts'
import { TaskGrid } from './task-grid.tsx'
import { useListCommands } from './use-list-commands.ts'
import { useListState } from './use-list-state.ts'
import { useOlder } from './use-older-tasks.ts'
import { useUnfolded } from './use-unfolded.ts'

/** All tasks of the principal, newest first, as they are now. */
export function TasksView() {
  const [, go] = useLocation()
  const [filter, change] = useTaskFilter()
  const list = useTasks(queryOf(filter))
  const found = useMemo(() => matching(list.tasks, filter), [list.tasks, filter])
  const { shown, newCount, scrolled } = useHeldTasks(found)
  const { cursor, setCursor, selected, expanded, clear, toggle, topBefore, ...state } = useListState()
  const { rows, onRead } = useUnfolded(shown, expanded)
  const older = useOlder(list, isFilteredHere(filter))
  const scrollerRef = useRef<HTMLDivElement>(null)
  const inputRef = useRef<HTMLInputElement>(null)
  const [cancelling, setCancelling] = useState<readonly string[]>([])
  const open = useCallback((id: string) => go(taskPath(id)), [go])
  const move = (by: number) => state.move(rows, by)
  const select = useStable((id: string, isRange: boolean) => state.select(rows, id, isRange))
  const at = rows.find(({ task }) => task.id === cursor)?.task
  const chosen = rows.filter(({ task }) => selected.has(task.id))
  const live = chosen.filter(({ task }) => !isTerminal(task.status))
  const cancel = () => {
    const ids = live.map(({ task }) => task.id)
    if (ids.length > 0) setCancelling(ids)
    else if (at && !isTerminal(at.status)) setCancelling([at.id])
  }
  useFocusAfter(cancelling.length > 0, scrollerRef)
  useListCommands({ at, inputRef, move, open, select, toggle, cancel })
  // Before the first answer nobody knows how many there are.
  const isRead = !list.isLoading && (!list.error || list.tasks.length > 0)
  const look = { rows, selected, cursor, newCount, scrollerRef, topBefore }
  const selectAll = () => state.selectAll(rows)
  const focus = () => focusList(scrollerRef.current)
  const actions = { onSelect: select, onSelectAll: selectAll, onToggle: toggle, onFocus: setCursor, onMove: move }
  return (
    <Page title="Tasks" actions={isRead && <Counts tasks={found} hasMore={list.hasMore} filter={filter} />}>
      <FilterBar filter={filter} onChange={change} tasks={list.tasks} inputRef={inputRef} onLeave={focus} />
      {list.error && list.tasks.length > 0 && <StaleBar error={list.error} onRetry={list.retry} />}
      {[...expanded].map((id) => (
        <ChildrenReader key={id} parent={id} onRead={onRead} />
      ))}
      {list.error && list.tasks.length === 0 ? (
        <ErrorState error={list.error} what="list of tasks" onRetry={list.retry} />
      ) : list.isLoading ? (
        <Loading />
      ) : rows.length === 0 && !older.isSearching ? (
        <NoTasks isNarrow={isNarrow(filter)} older={older} onClear={() => change(unfiltered)} />
      ) : (
        <TaskGrid
          {...look}
          {...actions}
          onScrolled={scrolled}
          onNearEnd={older.load}
          footer={older.hasMore && <ListEnd older={older} foundCount={found.length} />}
        />
      )}
      <SelectionBar
        count={chosen.length}
        liveCount={live.length}
        onCancel={cancel}
        onClear={() => {
          clear()
          focus()
        }}
      />
      <CancelDialog ids={cancelling} onClose={() => setCancelling([])} onDone={clear} />
    </Page>
  )
}

interface CountsProps {
  readonly tasks: readonly Task[]
  readonly hasMore: boolean
  readonly filter: TaskFilter
}

/** Of what is listed, as far as it is read; what runs may be further down, and is asked for by itself. */
function Counts({ tasks, hasMore, filter }: CountsProps) {
  const live = useTasks({ ...queryOf(filter), status: ['running'] })
  const isListed = filter.statuses.length === 0 || filter.statuses.includes('running')
  const running = isListed ? matching(live.tasks, filter).length : 0
  return (
    <p className="text-ink-faint">
      {running > 0 && (
        <>
          <span className="mr-2 font-medium text-run">
            {running}
            {live.hasMore && '+'} running
          </span>{' '}
        </>
      )}
      {tasks.length}
      {hasMore && '+'} {tasks.length === 1 ? 'task' : 'tasks'}
    </p>
  )
}
