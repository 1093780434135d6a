import type { ThreadEvent } from 'holdfast/client'
import { ChevronRight } from 'lucide-react'
import { memo } from 'react'
import { classes } from '../../design/classes.ts'
import { Json } from '../../design/json.tsx'
import { preciseClockText } from '../../design/span-text.ts'
import { summaryOf } from './event-summary.ts'

interface EventRowProps {
  readonly event: ThreadEvent
  readonly isOpen: boolean
  readonly isCursor: boolean
  /** A later attempt took its place. */
  readonly isAbandoned: boolean
  /** Names the task too, where there are several. */
  readonly hasTask: boolean
  readonly onToggle: (seq: number) => void
}

export const EventRow = memo(function EventRow(props: EventRowProps) {
  const { event, isOpen, isCursor, isAbandoned, hasTask, onToggle } = props
  const { seq, at, type, task } = event
  return (
    <div className={classes('border-b border-line', isCursor && 'bg-selected')}>
      <button
        type="button"
        data-seq={seq}
        aria-expanded={isOpen}
        onClick={() => onToggle(seq)}
        className={classes(
          'flex min-h-7 w-full items-center gap-3 px-4 text-left font-mono text-xs outline-offset-[-2px] hover:bg-hover md:px-6',
          isAbandoned && 'line-through decoration-ink-faint',
        )}
      >
        <ChevronRight size={12} aria-hidden className={classes('shrink-0 text-ink-faint', isOpen && 'rotate-90')} />
        <span className="w-12 shrink-0 text-right text-ink-faint">{seq}</span>
        <span className="hidden w-24 shrink-0 text-ink-faint md:inline">{preciseClockText(at)}</span>
        {hasTask && <span className="hidden w-16 shrink-0 truncate text-ink-faint md:inline">{task}</span>}
        <span className={classes('w-28 shrink-0 truncate md:w-36', inkOf(type))}>{type}</span>
        <span className="min-w-0 flex-1 truncate text-ink-soft">{summaryOf(event)}</span>
        {isAbandoned && <span className="sr-only">abandoned by a later attempt</span>}
      </button>
      {isOpen && (
        // However much is in it, the events around it stay in sight.
        <div className="px-4 pb-3 md:px-6 md:pl-16 [&_pre]:max-h-[40vh]">
          {/* Where the row has no room for it. */}
          <p className="py-1 font-mono text-xs text-ink-faint md:hidden">
            {preciseClockText(at)} {hasTask && task}
          </p>
          <Json value={event} label={`event ${seq}`} />
        </div>
      )}
    </div>
  )
})

function inkOf(type: string): string {
  if (type === 'task.failed') return 'text-bad'
  if (type === 'task.cancelled' || type === 'task.cancelling') return 'text-warn'
  if (type === 'task.completed') return 'text-ok'
  if (type.startsWith('task.')) return 'text-run'
  return type.startsWith('question.') ? 'text-warn' : 'text-ink'
}
