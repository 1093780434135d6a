import { useVirtualizer } from '@tanstack/react-virtual'
import { ArrowUp } from 'lucide-react'
import {
  type KeyboardEvent,
  type ReactNode,
  type RefObject,
  useCallback,
  useEffect,
  useLayoutEffect,
  useRef,
} from 'react'
import { classes } from '../../design/classes.ts'
import { useIsWide } from '../../design/is-wide.ts'
import { notePlace } from './list-place.ts'
import { column, columns } from './task-columns.ts'
import { type RowActions, TaskRow } from './task-row.tsx'
import type { Row } from './tree-rows.ts'
import { useAsking } from './use-asking.ts'

interface TaskGridProps extends RowActions {
  readonly rows: readonly Row[]
  readonly selected: ReadonlySet<string>
  readonly cursor: string | undefined
  readonly newCount: number
  readonly scrollerRef: RefObject<HTMLDivElement | null>
  /** How far down it was when it was left. */
  readonly topBefore: number
  readonly onSelectAll: () => void
  readonly onScrolled: (isAtTop: boolean) => void
  readonly onMove: (by: number) => void
  /** The last rows are near: older ones are wanted. */
  readonly onNearEnd: () => void
  readonly footer?: ReactNode
}

// On a phone the status has a line of its own.
const rowHeight = { wide: 56, narrow: 84 } as const
// Older tasks are asked for before the last row comes into sight.
const nearEnd = 15
const atTopPx = 8

/** The list as a tree grid of which only what is in sight is on the page. */
export function TaskGrid(props: TaskGridProps) {
  const { rows, selected, cursor, newCount, scrollerRef, topBefore, onScrolled, onNearEnd, footer } = props
  const { onSelect, onSelectAll, onToggle, onFocus } = props
  const actions = { onSelect, onToggle, onFocus }
  const isWide = useIsWide()
  const asking = useAsking()
  const height = isWide ? rowHeight.wide : rowHeight.narrow
  const virtual = useVirtualizer({
    count: rows.length,
    getScrollElement: () => scrollerRef.current,
    estimateSize: () => height,
    getItemKey: useCallback((index: number) => rows[index]?.task.id ?? index, [rows]),
    overscan: 8,
    useFlushSync: false,
  })
  const items = virtual.getVirtualItems()
  // A row that is not on the page has no focus to give: then the list itself is where keys come in.
  const hasCursor = items.some(({ index }) => cursor !== undefined && rows[index]?.task.id === cursor)
  const last = items.at(-1)?.index ?? 0
  useEffect(() => {
    if (last >= rows.length - nearEnd) onNearEnd()
  }, [last, rows.length, onNearEnd])
  useCursorInSight(rows, cursor, (index) => virtual.scrollToIndex(index), scrollerRef)
  useTopBefore(scrollerRef, topBefore, rows.length, Boolean(footer))
  const toTop = () => scrollerRef.current?.scrollTo({ top: 0 })
  return (
    <div className="relative flex min-h-0 flex-1 flex-col">
      <NewPill count={newCount} onClick={toTop} />
      <div
        ref={scrollerRef}
        role="treegrid"
        aria-label="Tasks"
        aria-rowcount={rows.length + (footer ? 2 : 1)}
        aria-multiselectable
        tabIndex={hasCursor ? -1 : 0}
        onScroll={({ currentTarget: { scrollTop } }) => {
          notePlace({ top: scrollTop })
          onScrolled(scrollTop < atTopPx)
        }}
        onKeyDown={(event) => moveByArrows(event, props)}
        className="scroller min-h-0 flex-1"
      >
        <Head rows={rows} selected={selected} onSelectAll={onSelectAll} />
        <div role="rowgroup" className="relative" style={{ height: virtual.getTotalSize() }}>
          {items.map(({ index, start, key }) => {
            const row = rows[index]
            if (!row) return null
            const { id } = row.task
            const place = {
              row,
              index,
              top: start,
              height,
              isSelected: selected.has(id),
              isCursor: cursor === id,
              questionCount: asking.get(id) ?? 0,
              isWide,
            }
            return <TaskRow key={key} {...place} {...actions} />
          })}
        </div>
        {footer && <Foot index={rows.length}>{footer}</Foot>}
      </div>
    </div>
  )
}

/** In a grid everything stands in a cell. */
function Foot({ index, children }: { readonly index: number; readonly children: ReactNode }) {
  return (
    <div role="rowgroup">
      <div role="row" aria-rowindex={index + 2}>
        <div role="gridcell">{children}</div>
      </div>
    </div>
  )
}

const heads = [
  { title: 'Status' },
  { title: 'Task' },
  { title: 'Agent', look: column.agent },
  { title: 'Thread', look: column.thread },
  { title: 'Children', look: column.children },
  { title: 'Ran', look: column.ran },
  { title: 'Age', look: column.age },
  { title: 'Id', look: column.id },
]

type HeadProps = Pick<TaskGridProps, 'rows' | 'selected' | 'onSelectAll'>

function Head({ rows, selected, onSelectAll }: HeadProps) {
  const count = rows.filter(({ task }) => selected.has(task.id)).length
  return (
    <div role="rowgroup" className="sticky top-0 z-10 hidden bg-page md:block">
      <div role="row" className={classes('h-8 border-b border-line px-6 text-xs font-medium text-ink-faint', columns)}>
        <span role="columnheader" className="flex">
          <input
            type="checkbox"
            ref={(box) => {
              if (box) box.indeterminate = count > 0 && count < rows.length
            }}
            checked={count === rows.length}
            onChange={onSelectAll}
            aria-label="Select all tasks in the list"
            className="size-3.5 accent-accent-fill"
          />
        </span>
        {heads.map(({ title, look }) => (
          <span role="columnheader" key={title} className={look}>
            {title}
          </span>
        ))}
      </div>
    </div>
  )
}

function NewPill({ count, onClick }: { readonly count: number; readonly onClick: () => void }) {
  return (
    <div aria-live="polite" className="pointer-events-none absolute inset-x-0 top-10 z-20 flex justify-center">
      {count > 0 && (
        <button
          type="button"
          onClick={onClick}
          className="pointer-events-auto flex h-8 animate-appear items-center gap-1.5 rounded-full bg-accent-fill px-3.5 text-xs font-semibold text-on-accent shadow-raised"
        >
          <ArrowUp size={13} aria-hidden /> {count} new
        </button>
      )}
    </div>
  )
}

function moveByArrows(event: KeyboardEvent, { rows, cursor, onMove, onToggle, onSelect }: TaskGridProps): void {
  const row = rows.find(({ task }) => task.id === cursor)
  const acts: Readonly<Record<string, (() => void) | undefined>> = {
    ArrowDown: () => onMove(1),
    ArrowUp: () => onMove(-1),
    ArrowRight: row && !row.isExpanded ? () => onToggle(row.task.id) : undefined,
    ArrowLeft: row?.isExpanded ? () => onToggle(row.task.id) : undefined,
    ' ': row && (() => onSelect(row.task.id, event.shiftKey)),
  }
  const act = acts[event.key]
  if (!act || event.altKey || event.ctrlKey || event.metaKey) return
  event.preventDefault()
  act()
}

/** The row that the keys move is on the screen, and has the focus if the list had it. */
function useCursorInSight(
  rows: readonly Row[],
  cursor: string | undefined,
  show: (index: number) => void,
  scrollerRef: RefObject<HTMLDivElement | null>,
): void {
  const before = useRef(cursor)
  const frame = useRef(0)
  // The list may change before the next frame, which must not take the focus away from where the keys went.
  useEffect(() => {
    if (before.current === cursor || cursor === undefined) return
    before.current = cursor
    const index = rows.findIndex(({ task }) => task.id === cursor)
    if (index >= 0) show(index)
    cancelAnimationFrame(frame.current)
    frame.current = requestAnimationFrame(() => {
      const row = scrollerRef.current?.querySelector<HTMLElement>(`[data-task="${CSS.escape(cursor)}"]`)
      if (row && !row.contains(document.activeElement)) row.focus({ preventScroll: true })
    })
  })
  useEffect(() => () => cancelAnimationFrame(frame.current), [])
}

/** Goes back to where the list was left, once so much of it is read again. */
function useTopBefore(
  scrollerRef: RefObject<HTMLDivElement | null>,
  topBefore: number,
  rowCount: number,
  hasMore: boolean,
): void {
  const wanted = useRef(topBefore)
  // biome-ignore lint/correctness/useExhaustiveDependencies: each page that came may be the one.
  useLayoutEffect(() => {
    const scroller = scrollerRef.current
    if (!scroller || wanted.current === 0) return
    const room = scroller.scrollHeight - scroller.clientHeight
    scroller.scrollTop = wanted.current
    if (room >= wanted.current || !hasMore) wanted.current = 0
  }, [rowCount, hasMore])
}
