import { useVirtualizer } from '@tanstack/react-virtual'
import { isTerminal, type Task } from 'holdfast/client'
import { type CSSProperties, memo, type RefObject, useMemo, useRef } from 'react'
import { classes } from '../../design/classes.ts'
import { useNow } from '../../design/now.ts'
import { durationText } from '../../design/span-text.ts'
import { type ShownStatus, Status, shownStatus } from '../../design/status.tsx'
import { taskTitle } from '../../design/task-title.ts'
import { useWidth } from '../../design/use-width.ts'
import type { TreeLine } from './task-tree.ts'
import { type TimeScale, tickCountMaxOf, timeScale } from './time-scale.ts'

interface TimelineProps {
  readonly lines: readonly TreeLine[]
  /** The task that is looked at, or where it failed. */
  readonly current: string
  readonly onPick: (id: string) => void
}

const lineHeight = 48

const bars: Readonly<Record<ShownStatus, string>> = {
  pending: 'bg-wait',
  running: 'bg-run',
  cancelling: 'bg-warn',
  completed: 'bg-ok',
  failed: 'bg-bad',
  cancelled: 'bg-warn',
}

/** Keeps names on the left and times on the right in step over all lines. */
const layout =
  'grid grid-cols-[minmax(7rem,35%)_minmax(0,1fr)] md:grid-cols-[35%_minmax(0,1fr)_5rem] xl:grid-cols-[20rem_minmax(0,1fr)_5rem]'

/** The whole tree over time: when each task waited, hatched, and when it ran. */
export function Timeline({ lines, current, onPick }: TimelineProps) {
  const isLive = lines.some(({ task }) => !isTerminal(task.status))
  const now = useNow(isLive)
  const axisRef = useRef<HTMLDivElement>(null)
  const tickCountMax = tickCountMaxOf(useWidth(axisRef))
  const scale = useMemo(() => timeScale(lines, now, tickCountMax), [lines, now, tickCountMax])
  const scrollerRef = useRef<HTMLDivElement>(null)
  const virtual = useVirtualizer({
    count: lines.length,
    getScrollElement: () => scrollerRef.current,
    estimateSize: () => lineHeight,
    overscan: 10,
    useFlushSync: false,
  })
  return (
    <div ref={scrollerRef} className="scroller min-h-0 flex-1 px-4 pb-6 md:px-6">
      <Legend lines={lines} />
      <Axis scale={scale} axisRef={axisRef} />
      <ul aria-label="Tasks of the tree" className="relative" style={{ height: virtual.getTotalSize() }}>
        {virtual.getVirtualItems().map(({ index, start }) => {
          const line = lines[index]
          if (!line) return null
          const isCurrent = line.task.id === current
          return (
            <li
              key={line.task.id}
              className="absolute inset-x-0 top-0"
              style={{ transform: `translateY(${start}px)`, height: lineHeight }}
            >
              <Line line={line} scale={scale} isCurrent={isCurrent} onPick={onPick} />
            </li>
          )
        })}
      </ul>
    </div>
  )
}

// In the order in which a task has them.
const statuses: readonly ShownStatus[] = ['running', 'cancelling', 'completed', 'failed', 'cancelled']

function Legend({ lines }: { readonly lines: readonly TreeLine[] }) {
  const found = new Set(lines.flatMap(({ task }) => (task.startedAt === undefined ? [] : shownStatus(task))))
  return (
    <p className="flex flex-wrap items-center gap-x-5 gap-y-1 py-3 text-xs text-ink-soft">
      <span className="flex items-center gap-2">
        <span className="h-2.5 w-6 rounded-sm border border-line-strong hatched" /> queued
      </span>
      {statuses
        .filter((status) => found.has(status))
        .map((status) => (
          <span key={status} data-legend={status} className="flex items-center gap-2">
            <span className={classes('h-2.5 w-6 rounded-sm', bars[status])} /> {status}
          </span>
        ))}
      <span className="hidden md:inline">Choose a task to see its events.</span>
    </p>
  )
}

interface AxisProps {
  readonly scale: TimeScale
  readonly axisRef: RefObject<HTMLDivElement | null>
}

function Axis({ scale, axisRef }: AxisProps) {
  return (
    <div aria-hidden className={classes('sticky top-0 z-10 h-7 gap-3 border-b border-line bg-page', layout)}>
      <span className="self-center text-xs font-medium text-ink-faint">Task</span>
      <div ref={axisRef} data-axis className="relative overflow-hidden font-mono text-xs text-ink-faint">
        {scale.ticks.map(({ place, text }, at) => (
          // A time for which there is no room up to the next goes to a second line, which is not seen.
          <span
            key={text}
            className="absolute top-1.5 flex h-4 flex-wrap content-start overflow-hidden"
            style={{ left: `${place}%`, width: `${(scale.ticks[at + 1]?.place ?? 100) - place}%` }}
          >
            <span className="h-4 w-px bg-line" />
            <span data-tick className="pl-1 whitespace-nowrap">
              {text}
            </span>
          </span>
        ))}
      </div>
    </div>
  )
}

interface LineProps {
  readonly line: TreeLine
  readonly scale: TimeScale
  readonly isCurrent: boolean
  readonly onPick: (id: string) => void
}

const Line = memo(function Line({ line: { task, depth }, scale, isCurrent, onPick }: LineProps) {
  const { startedAt, completedAt } = task
  const ranMs = startedAt === undefined ? undefined : (completedAt ?? scale.to) - startedAt
  return (
    <button
      type="button"
      onClick={() => onPick(task.id)}
      aria-current={isCurrent}
      className={classes(
        'h-full w-full items-center gap-3 border-b border-line text-left outline-offset-[-2px] hover:bg-hover',
        layout,
        isCurrent && 'bg-selected hover:bg-selected',
      )}
    >
      <span
        className="flex min-w-0 flex-col pl-[calc(0.25rem+var(--depth)*0.25rem)] md:pl-[calc(0.25rem+var(--depth)*1rem)]"
        style={{ '--depth': depth } as CSSProperties}
      >
        <span className="truncate">{taskTitle(task)}</span>
        <span className="text-xs">
          <Status status={shownStatus(task)} />
          <span className="sr-only">, {spanText(task, scale.to)}. Show its events</span>
        </span>
      </span>
      <span className="relative h-5">
        {scale.ticks.map(({ place }) => (
          <span key={place} className="absolute inset-y-[-14px] w-px bg-line" style={{ left: `${place}%` }} />
        ))}
        <Bars task={task} scale={scale} />
      </span>
      <span aria-hidden className="hidden text-right text-xs text-ink-soft md:block">
        {ranMs === undefined ? '' : durationText(ranMs)}
      </span>
    </button>
  )
})

function Bars({ task, scale }: { readonly task: Task; readonly scale: TimeScale }) {
  const { createdAt, startedAt, completedAt } = task
  const queuedTo = startedAt ?? completedAt ?? scale.to
  const endedAt = completedAt ?? scale.to
  return (
    <>
      <span
        className="absolute inset-y-1 rounded-l-sm border border-line-strong bg-page hatched"
        style={span(scale, createdAt, queuedTo)}
      />
      {startedAt !== undefined && (
        <span
          className={classes('absolute inset-y-0.5 min-w-[3px] rounded-sm', bars[shownStatus(task)])}
          style={span(scale, startedAt, endedAt)}
        />
      )}
    </>
  )
}

function span(scale: TimeScale, from: number, to: number): { left: string; width: string } {
  const left = scale.place(from)
  return { left: `${left}%`, width: `${scale.place(to) - left}%` }
}

function spanText({ createdAt, startedAt, completedAt }: Task, now: number): string {
  const queued = `queued ${durationText((startedAt ?? completedAt ?? now) - createdAt)}`
  return startedAt === undefined ? queued : `${queued}, ran ${durationText((completedAt ?? now) - startedAt)}`
}
