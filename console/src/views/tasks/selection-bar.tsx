import { Button } from '../../design/button.tsx'

interface SelectionBarProps {
  readonly count: number
  readonly liveCount: number
  readonly onCancel: () => void
  readonly onClear: () => void
}

/** What can be done with all that is selected. */
export function SelectionBar({ count, liveCount, onCancel, onClear }: SelectionBarProps) {
  if (count === 0) return null
  return (
    <div
      role="toolbar"
      aria-label="Selected tasks"
      className="flex shrink-0 animate-appear items-center gap-3 border-t border-line bg-raised px-4 py-2 md:px-6"
    >
      <span role="status" className="font-medium">
        {count} selected
      </span>
      <Button look="danger" disabled={liveCount === 0} onClick={onCancel}>
        {liveCount === 0 ? 'Nothing selected is running' : `Cancel ${liveCount} running`}
      </Button>
      <Button look="quiet" onClick={onClear}>
        Clear
      </Button>
    </div>
  )
}
