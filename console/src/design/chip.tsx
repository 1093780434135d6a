import { X } from 'lucide-react'
import type { ReactNode } from 'react'
import { classes } from './classes.ts'

interface ChipProps {
  readonly children: ReactNode
  readonly isOn?: boolean
  readonly onClick?: () => void
  /** Shows a cross that takes it away; `label` says what goes. */
  readonly onRemove?: () => void
  readonly label?: string
}

const shape = 'inline-flex h-7 items-center gap-1.5 rounded-full border text-xs font-medium whitespace-nowrap'

/** Something that narrows a list: on or off, or there until it is removed. */
export function Chip({ children, isOn = false, onClick, onRemove, label }: ChipProps) {
  const look = isOn
    ? 'border-accent bg-selected text-ink'
    : 'border-line bg-panel text-ink-soft hover:border-line-strong hover:text-ink'
  if (onRemove) {
    return (
      <span data-on className={classes(shape, look, 'pl-3 pr-1')}>
        {children}
        <button
          type="button"
          onClick={onRemove}
          aria-label={`Remove ${label ?? 'this filter'}`}
          className="grid size-5 place-items-center rounded-full hover:bg-hover"
        >
          <X size={12} aria-hidden />
        </button>
      </span>
    )
  }
  return (
    <button
      type="button"
      aria-pressed={isOn}
      data-on={isOn || undefined}
      onClick={onClick}
      className={classes(shape, look, 'px-3')}
    >
      {children}
    </button>
  )
}
