import type { Status as TaskStatus } from 'holdfast/client'
import { Ban, CircleCheck, CircleDashed, CircleX, LoaderCircle, type LucideIcon, OctagonPause } from 'lucide-react'
import { classes } from './classes.ts'

/** What is shown of a task: its status, and whether a cancel is under way. */
export type ShownStatus = TaskStatus | 'cancelling'

interface Look {
  readonly icon: LucideIcon
  readonly ink: string
  readonly soft: string
}

const looks: Readonly<Record<ShownStatus, Look>> = {
  pending: { icon: CircleDashed, ink: 'text-wait', soft: 'bg-wait-soft' },
  running: { icon: LoaderCircle, ink: 'text-run', soft: 'bg-run-soft' },
  cancelling: { icon: OctagonPause, ink: 'text-warn', soft: 'bg-warn-soft' },
  completed: { icon: CircleCheck, ink: 'text-ok', soft: 'bg-ok-soft' },
  failed: { icon: CircleX, ink: 'text-bad', soft: 'bg-bad-soft' },
  cancelled: { icon: Ban, ink: 'text-warn', soft: 'bg-warn-soft' },
}

export function shownStatus(task: { readonly status: TaskStatus; readonly cancelRequestedAt?: number }): ShownStatus {
  return task.status === 'running' && task.cancelRequestedAt !== undefined ? 'cancelling' : task.status
}

interface StatusProps {
  readonly status: ShownStatus
  readonly isBadge?: boolean
  /** Does not turn, where it stands for a status and not for something that runs. */
  readonly isStill?: boolean
}

/** A status is always an icon and a word: colour alone tells some people nothing. */
export function Status({ status, isBadge = false, isStill = false }: StatusProps) {
  const { icon: Icon, ink, soft } = looks[status]
  return (
    <span
      data-status={status}
      className={classes(
        'inline-flex items-center gap-1.5 font-medium whitespace-nowrap',
        ink,
        isBadge && classes('h-6 rounded-full px-2.5 text-xs', soft),
      )}
    >
      <Icon
        size={14}
        strokeWidth={2.25}
        aria-hidden
        className={classes(status === 'running' && !isStill && 'animate-spin')}
      />
      {status === 'cancelling' ? 'cancelling…' : status}
    </span>
  )
}
