import { ChevronRight } from 'lucide-react'
import { type CSSProperties, memo, useState } from 'react'
import { Link } from 'wouter'
import { AsksBadge } from '../../design/asks-badge.tsx'
import { classes } from '../../design/classes.ts'
import { ShortId } from '../../design/short-id.tsx'
import { useLater } from '../../design/skeleton.tsx'
import { Status, shownStatus } from '../../design/status.tsx'
import { taskTitle } from '../../design/task-title.ts'
import { Age, Duration } from '../../design/time.tsx'
import { taskPath, threadPath } from '../../place.ts'
import { ChildCount, ChildCounter, type Children } from './child-count.tsx'
import { LastLine } from './last-line.tsx'
import { column, columns } from './task-columns.ts'
import type { Row } from './tree-rows.ts'

export interface RowActions {
  readonly onSelect: (id: string, isRange: boolean) => void
  readonly onToggle: (id: string) => void
  readonly onFocus: (id: string) => void
}

interface TaskRowProps extends RowActions {
  readonly row: Row
  readonly index: number
  readonly top: number
  readonly height: number
  readonly isSelected: boolean
  readonly isCursor: boolean
  /** So many of it and of what it spawned wait for an answer. */
  readonly questionCount: number
  /** What a phone has no room for is not asked for there. */
  readonly isWide: boolean
}

// A row that is only scrolled past asks for nothing.
const restMs = 150

export const TaskRow = memo(function TaskRow(props: TaskRowProps) {
  const { row, index, top, height, isSelected, isCursor, questionCount, isWide, onSelect, onFocus } = props
  const { task, depth, isExpanded } = row
  const rests = useLater(restMs)
  const [children, setChildren] = useState<Children>()
  const isParent = children !== undefined && children.all > 0
  const style: CSSProperties = { transform: `translateY(${top}px)`, height }
  return (
    <div
      role="row"
      aria-rowindex={index + 2}
      aria-level={depth + 1}
      aria-expanded={isParent ? isExpanded : undefined}
      aria-selected={isSelected}
      aria-label={`${taskTitle(task)}, ${shownStatus(task)}${questionCount > 0 ? ', asks you' : ''}`}
      data-task={task.id}
      tabIndex={isCursor ? 0 : -1}
      onFocus={() => onFocus(task.id)}
      style={style}
      className={classes(
        'absolute inset-x-0 top-0 flex flex-col justify-center gap-1 border-b border-line px-4 md:px-6',
        'outline-offset-[-2px] hover:bg-hover',
        columns,
        isSelected && 'bg-selected hover:bg-selected',
      )}
    >
      <div role="gridcell" className="relative z-10 hidden items-center gap-1 md:flex">
        <input
          type="checkbox"
          tabIndex={-1}
          checked={isSelected}
          onChange={() => {}}
          onClick={(event) => onSelect(task.id, event.shiftKey)}
          aria-label={`Select ${taskTitle(task)}`}
          className="size-3.5 accent-accent-fill"
        />
        {rests && isWide && <ChildCounter parent={task.id} onCount={setChildren} />}
        {isParent && <Expander {...props} />}
      </div>
      <Cell className="order-2 flex min-w-0 items-center gap-3 md:order-none md:flex-col md:items-start md:gap-0">
        <Status status={shownStatus(task)} />
        <span className="flex max-w-full gap-2 text-xs text-ink-soft lg:hidden">
          <span className="max-w-32 truncate">{task.agent ?? task.type}</span>
          <span className="md:hidden">
            <Age at={task.createdAt} />
          </span>
        </span>
      </Cell>
      <Cell className="min-w-0">
        {/* However deep it stands, most of the width is left to what it says. */}
        <div style={{ paddingLeft: `min(${depth * 1.25}rem, 40%)` }} className="min-w-0">
          <span className="flex items-center gap-3">
            {/* It is as large as the row, and what does something else lies above it. */}
            <Link
              href={taskPath(task.id)}
              tabIndex={-1}
              className="truncate font-medium after:absolute after:inset-0 hover:text-accent"
            >
              {taskTitle(task)}
            </Link>
            <AsksBadge count={questionCount} />
          </span>
          <div className="truncate text-xs text-ink-soft">{rests ? <LastLine task={task} /> : '\u00a0'}</div>
        </div>
      </Cell>
      <WideCells row={row} of={children} />
    </div>
  )
})

/** What there is room for beside the description. */
function WideCells({ row: { task, isExpanded }, of }: { readonly row: Row; readonly of: Children | undefined }) {
  return (
    <>
      <Cell className={classes('min-w-0 truncate text-ink-soft', column.agent)}>{task.agent ?? task.type}</Cell>
      <Cell className={classes('min-w-0 truncate', column.thread)}>
        <Link href={threadPath(task.thread)} tabIndex={-1} className="relative z-10 text-ink-soft hover:text-accent">
          {task.thread}
        </Link>
      </Cell>
      <Cell className={classes('text-xs', column.children)}>
        {of && <ChildCount of={of} isExpanded={isExpanded} />}
      </Cell>
      <Cell className={classes('text-ink-soft', column.ran)}>
        {task.startedAt !== undefined && <Duration from={task.startedAt} to={task.completedAt} />}
      </Cell>
      <Cell className={classes('text-ink-soft', column.age)}>
        <Age at={task.createdAt} />
      </Cell>
      <Cell className={column.id}>
        <ShortId id={task.id} />
      </Cell>
    </>
  )
}

function Cell({ className, children }: { readonly className: string; readonly children: React.ReactNode }) {
  return (
    <div role="gridcell" className={className}>
      {children}
    </div>
  )
}

function Expander({ row: { task, isExpanded }, onToggle }: TaskRowProps) {
  return (
    <button
      type="button"
      tabIndex={-1}
      onClick={() => onToggle(task.id)}
      aria-label={`${isExpanded ? 'Fold' : 'Unfold'} what ${taskTitle(task)} spawned`}
      className="grid size-6 place-items-center rounded-sm text-ink-faint hover:bg-hover hover:text-ink"
    >
      <ChevronRight size={14} aria-hidden className={classes('transition-transform', isExpanded && 'rotate-90')} />
    </button>
  )
}
