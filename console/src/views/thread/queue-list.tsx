import type { Task } from 'holdfast/client'
import { Clock, X } from 'lucide-react'
import { Button } from '../../design/button.tsx'
import { harmlessText } from '../../design/harmless-text.ts'

interface QueueListProps {
  readonly queue: readonly Task[]
  /** Told to the run, which has not read it yet. */
  readonly steered: readonly string[]
  readonly onWithdraw: (task: string) => void
}

/** What waits for its turn, in the order in which it comes. */
export function QueueList({ queue, steered, onWithdraw }: QueueListProps) {
  if (queue.length === 0 && steered.length === 0) return null
  return (
    <div className="scroller flex max-h-40 flex-col gap-1">
      {steered.map((text, at) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: they are only added at the end and taken from the front.
        <p key={at} className="truncate px-1 text-xs text-ink-soft">
          Told: {harmlessText(text)} <span className="text-ink-faint">(it reads this at its next step)</span>
        </p>
      ))}
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
