import type { Task } from 'holdfast/client'
import { useEvents } from 'holdfast/react'
import { ChevronDown, Clock, X } from 'lucide-react'
import { type RefObject, useEffect, useMemo, useRef, useState } from 'react'
import { Button } from '../../design/button.tsx'
import { harmlessText } from '../../design/harmless-text.ts'
import { taskTitle } from '../../design/task-title.ts'
import { useHasManyLines } from '../../live-lines.ts'
import { steeringTypes, unreadSteering } from './unread-steering.ts'

interface QueueListProps {
  readonly queue: readonly Task[]
  /** The one at work, else the one that comes next: it may have been told something. */
  readonly run: Task | undefined
  /** The lowest number that is kept of the log. */
  readonly first: number
  /** Where one goes on when nothing is left to withdraw. */
  readonly inputRef: RefObject<HTMLElement | null>
  readonly onWithdraw: (task: string) => void
}

// More would take the room of the conversation.
const shownCountMax = 3

/** What waits: what the run has yet to read, then what is asked after it, in the order in which it comes. */
export function QueueList({ queue, run, first, inputRef, onWithdraw }: QueueListProps) {
  const hasManyLines = useHasManyLines()
  const [isUnfolded, setUnfolded] = useState(false)
  const { listRef, withdraw } = useWithdrawing(queue, inputRef, onWithdraw)
  const shown = isUnfolded ? queue : queue.slice(0, shownCountMax)
  const moreCount = queue.length - shownCountMax
  return (
    <div className="flex flex-col gap-1 empty:hidden">
      {run && hasManyLines && <Told run={run} after={first - 1} />}
      {queue.length > 0 && (
        <ol ref={listRef} aria-label="Queued prompts" className="scroller flex max-h-[40vh] flex-col gap-1">
          {shown.map((task, at) => (
            <Queued key={task.id} task={task} at={at} onWithdraw={() => withdraw(task.id, at)} />
          ))}
        </ol>
      )}
      {moreCount > 0 && (
        <Button
          look="quiet"
          aria-expanded={isUnfolded}
          className="h-7! self-start px-2! text-xs"
          onClick={() => setUnfolded(!isUnfolded)}
        >
          <ChevronDown size={14} aria-hidden className={isUnfolded ? 'rotate-180' : undefined} />
          {isUnfolded ? 'Show fewer' : `${moreCount} more queued`}
        </Button>
      )}
    </div>
  )
}

// More than this nobody reads while pointing at it.
const titleLengthMax = 1000

interface QueuedProps {
  readonly task: Task
  readonly at: number
  readonly onWithdraw: () => void
}

function Queued({ task, at, onWithdraw }: QueuedProps) {
  const { id, agent, description, input } = task
  const whole = typeof input === 'string' ? input : description
  return (
    <li
      data-queued={id}
      className="flex h-8 shrink-0 items-center gap-2 rounded-md border border-line bg-panel pr-0.5 pl-3"
    >
      <Clock size={14} aria-hidden className="shrink-0 text-wait" />
      <span className="text-xs text-ink-faint">{at + 1}</span>
      <span dir="auto" title={harmlessText(whole.slice(0, titleLengthMax))} className="min-w-0 flex-1 truncate">
        {taskTitle(task)}
      </span>
      <span className="hidden text-xs text-ink-faint sm:inline">{agent}</span>
      <Button look="quiet" isIcon className="size-7" aria-label={`Withdraw: ${description}`} onClick={onWithdraw}>
        <X size={14} aria-hidden />
      </Button>
    </li>
  )
}

/** A button goes with what it withdraws; the focus goes to the next one then, or to where one writes. */
function useWithdrawing(
  queue: readonly Task[],
  inputRef: QueueListProps['inputRef'],
  onWithdraw: (id: string) => void,
) {
  const listRef = useRef<HTMLOListElement>(null)
  const left = useRef<{ readonly id: string; readonly at: number }>(undefined)
  useEffect(() => {
    const { id, at } = left.current ?? {}
    if (at === undefined || queue.some((task) => task.id === id)) return
    left.current = undefined
    if (document.activeElement !== document.body) return
    const buttons = [...(listRef.current?.querySelectorAll('button') ?? [])]
    const next = buttons[at] ?? buttons.at(-1) ?? inputRef.current
    next?.focus()
  }, [queue, inputRef])
  const withdraw = (id: string, at: number) => {
    left.current = { id, at }
    onWithdraw(id)
  }
  return { listRef, withdraw }
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
