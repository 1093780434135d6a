import type { LucideIcon } from 'lucide-react'
import type { ReactNode } from 'react'

interface EmptyProps {
  readonly icon: LucideIcon
  readonly title: string
  /** The next step. */
  readonly children?: ReactNode
}

/** There is nothing to show, and that is fine: says so, and what to do next. */
export function Empty({ icon: Icon, title, children }: EmptyProps) {
  return (
    <div className="grid min-h-64 flex-1 place-items-center p-6">
      <div className="flex max-w-md flex-col items-center gap-3 text-center">
        <span className="grid size-11 place-items-center rounded-full bg-sunken text-ink-faint">
          <Icon size={20} aria-hidden />
        </span>
        <h2 className="text-md font-semibold">{title}</h2>
        {children && <div className="flex flex-col items-center gap-3 text-ink-soft">{children}</div>}
      </div>
    </div>
  )
}
