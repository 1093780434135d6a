import type { Task } from 'holdfast/client'
import { useEvents } from 'holdfast/react'
import { Clock, X } from 'lucide-react'
import { useMemo } from 'react'
import { Button } from '../../design/button.tsx'
import { harmlessText } from '../../design/harmless-text.ts'
import { useHasManyLines } from '../../live-lines.ts'
import { steeringTypes, unreadSteering } from './unread-steering.ts'

interface QueueListProps {
  readonly queue: readonly Task[]
  /** The one at work, else the one that comes next: it may have been told something. */
  readonly run: Task | undefined
  /** The lowest number that is kept of the log. */
  readonly first: number
  readonly onWithdraw: (task: string) => void
}

/** What waits: what the run has yet to read, then what is asked after it, in the order in which it comes. */
export function QueueList({ queue, run, first, onWithdraw }: QueueListProps) {
  const hasManyLines = useHasManyLines()
  return (
    <div className="scroller flex max-h-40 flex-col gap-1 empty:hidden">
      {run && hasManyLines && <Told run={run} after={first - 1} />}
      {queue.length > 0 && (
        <ol aria-label="Queued prompts" className="flex flex-col gap-1">
          {queue.map(({ id, description, agent }, at) => (
            <li
              key={id}
              data-queued={id}
              className="flex h-8 items-center gap-2 rounded-md border border-line bg-panel pr-0.5 pl-3"
            >
              <Clock size={14} aria-hidden className="shrink-0 text-wait" />
              <span className="text-xs text-ink-faint">{at + 1}</span>
              <span className="min-w-0 flex-1 truncate">{harmlessText(description)}</span>
              <span className="hidden text-xs text-ink-faint sm:inline">{agent}</span>
              <Button
                look="quiet"
                isIcon
                className="size-7"
                aria-label={`Withdraw: ${description}`}
                onClick={() => onWithdraw(id)}
              >
                <X size={14} aria-hidden />
              </Button>
            </li>
          ))}
        </ol>
      )}
    </div>
  )
}

/** From the log, so that it is the same in every tab and after a reload. */
function Told({ run: { id: task, thread }, after }: { readonly run: Task; readonly after: number }) {
  const { events } = useEvents(thread, { task, after, types: steeringTypes })
  const steering = useMemo(() => unreadSteering(events), [events])
  return steering.map(({ id, text }) => (
    <p key={id} className="flex flex-wrap gap-x-1.5 px-1 text-xs text-ink-soft">
      <span className="max-w-full truncate">Told: {harmlessText(text)}</span>
      <span className="text-ink-faint">(not read yet; if the run ends first, it is asked next)</span>
    </p>
  ))
}
