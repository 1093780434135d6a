import { type ReactNode, useId } from 'react'

interface SectionProps {
  readonly title: string
  readonly note?: ReactNode
  readonly children: ReactNode
}

/** One thing about a task, under its heading. */
export function Section({ title, note, children }: SectionProps) {
  const id = useId()
  return (
    <section aria-labelledby={id} className="flex min-w-0 flex-col gap-2">
      <h2 id={id} className="flex items-baseline gap-2 font-semibold">
        {title}
        {note !== undefined && <span className="text-xs font-normal text-ink-faint">{note}</span>}
      </h2>
      {children}
    </section>
  )
}
