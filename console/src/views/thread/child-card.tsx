import type { Part, Task } from 'holdfast/client'
import { CornerDownRight, MessageCircleQuestion } from 'lucide-react'
import { memo } from 'react'
import { Link } from 'wouter'
import { harmlessText } from '../../design/harmless-text.ts'
import { ShortId } from '../../design/short-id.tsx'
import { Status, shownStatus } from '../../design/status.tsx'
import { taskTitle } from '../../design/task-title.ts'
import { Duration } from '../../design/time.tsx'
import { taskPath } from '../../place.ts'

interface ChildCardProps {
  readonly task: Task
  /** What it has put out so far, while it runs. */
  readonly parts: readonly Part[] | undefined
  readonly hasQuestion: boolean
}

/** A task that works for another: how it is, what it says just now, and the way to it. */
export const ChildCard = memo(function ChildCard({ task, parts, hasQuestion }: ChildCardProps) {
  const { id, progress, startedAt, completedAt, error } = task
  const status = shownStatus(task)
  const tail = status === 'running' || status === 'cancelling' ? tailOf(parts) : undefined
  return (
    <Link
      href={taskPath(id)}
      data-task={id}
      className="relative flex flex-col gap-1 overflow-hidden rounded-md border border-line bg-panel px-3 py-2 hover:border-line-strong hover:bg-hover"
    >
      <span className="flex flex-wrap items-center gap-x-3 gap-y-1">
        <CornerDownRight size={14} aria-hidden className="shrink-0 text-ink-faint" />
        <span className="min-w-0 flex-1 truncate font-medium">{taskTitle(task)}</span>
        {hasQuestion && (
          <span className="inline-flex items-center gap-1 text-xs font-medium text-warn">
            <MessageCircleQuestion size={14} aria-hidden /> asks
          </span>
        )}
        <span className="text-xs">
          <Status status={status} />
        </span>
        {startedAt !== undefined && (
          <span className="hidden text-xs text-ink-faint sm:inline">
            <Duration from={startedAt} to={completedAt} />
          </span>
        )}
        <ShortId id={id} />
      </span>
      {tail && (
        // The end of it is what moves, so it is the beginning that is cut off.
        <span className="ml-6 flex justify-end overflow-hidden text-xs whitespace-nowrap text-ink-soft">
          <span className="min-w-full shrink-0">{tail}</span>
        </span>
      )}
      {error && status === 'failed' && (
        <span className="truncate pl-6 text-xs text-bad">{harmlessText(error.message)}</span>
      )}
      {progress !== undefined && status === 'running' && <ProgressLine value={progress} />}
    </Link>
  )
})

function ProgressLine({ value }: { readonly value: number }) {
  return (
    <span
      role="progressbar"
      aria-label="Progress"
      aria-valuemin={0}
      aria-valuemax={100}
      aria-valuenow={Math.round(value * 100)}
      className="absolute inset-x-0 bottom-0 h-0.5 bg-sunken"
    >
      <span className="block h-full bg-run transition-[width]" style={{ width: `${value * 100}%` }} />
    </span>
  )
}

const tailLengthMax = 140

/** The end of what a task says, cut at a word; or the tool that it waits for. */
function tailOf(parts: readonly Part[] | undefined): string | undefined {
  const last = parts?.findLast(({ type }) => type !== 'data' && type !== 'file')
  if (last?.type === 'tool') return harmlessText(`${last.name} …`)
  if (last?.type !== 'text' && last?.type !== 'reasoning') return undefined
  const text = last.text
    .slice(-tailLengthMax * 2)
    .replace(/\s+/g, ' ')
    .trim()
  if (text.length <= tailLengthMax) return harmlessText(text)
  const cut = text.slice(-tailLengthMax)
  return harmlessText(`… ${cut.slice(cut.indexOf(' ') + 1)}`)
}
