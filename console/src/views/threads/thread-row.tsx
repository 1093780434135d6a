import type { ThreadLine } from 'holdfast/client'
import { CircleDashed, LoaderCircle } from 'lucide-react'
import { memo } from 'react'
import { Link } from 'wouter'
import { AsksBadge } from '../../design/asks-badge.tsx'
import { harmlessText } from '../../design/harmless-text.ts'
import { Status } from '../../design/status.tsx'
import { Age } from '../../design/time.tsx'
import { threadPath } from '../../place.ts'
import type { ThreadNote } from './thread-notes.ts'

interface ThreadRowProps {
  readonly line: ThreadLine
  readonly note: ThreadNote | undefined
  /** More tasks are live than were read: each count is the least that it can be. */
  readonly hasMoreLive: boolean
}

export const ThreadRow = memo(function ThreadRow({ line, note, hasMoreLive }: ThreadRowProps) {
  const more = hasMoreLive ? '+' : ''
  const { thread, at, head } = line
  const { running = 0, queued = 0, questions = 0, last } = note ?? {}
  return (
    <li data-thread={thread}>
      <Link
        href={threadPath(thread)}
        className="flex flex-col gap-1 px-4 py-3 -outline-offset-2 hover:bg-hover md:flex-row md:items-center md:gap-6 md:px-6"
      >
        <span className="flex min-w-0 flex-1 flex-col">
          <span className="truncate text-md font-medium">{thread}</span>
          {last && <span className="truncate text-ink-soft">{harmlessText(last.description)}</span>}
        </span>
        <span className="flex flex-wrap items-center gap-x-4 gap-y-1 text-xs font-medium">
          <AsksBadge count={questions} />
          {last && running + queued === 0 && <Status status={last.status} />}
          {running > 0 && (
            <span className="inline-flex items-center gap-1.5 text-run">
              <LoaderCircle size={14} strokeWidth={2.25} aria-hidden className="animate-spin" /> {running}
              {more} running
            </span>
          )}
          {queued > 0 && (
            <span className="inline-flex items-center gap-1.5 text-wait">
              <CircleDashed size={14} strokeWidth={2.25} aria-hidden /> {queued}
              {more} queued
            </span>
          )}
          <span className="font-normal text-ink-faint md:w-24 md:text-right">{head.toLocaleString('en')} events</span>
          <span className="ml-auto font-normal text-ink-faint md:w-12 md:text-right">
            <Age at={at} />
          </span>
        </span>
      </Link>
    </li>
  )
})
