import { type ReactNode, useEffect } from 'react'

interface PageProps {
  readonly title: string
  /** Beside the title, at the end of its line. */
  readonly actions?: ReactNode
  /** Instead of the title alone; it has the level-1 heading then. */
  readonly header?: ReactNode
  readonly children: ReactNode
}

/** The frame of a view: a heading that stays, and a body that fills the rest and scrolls as it likes. */
export function Page({ title, actions, header, children }: PageProps) {
  useEffect(() => {
    document.title = `${title} · Holdfast`
  }, [title])
  return (
    <div className="flex min-h-0 min-w-0 flex-1 flex-col">
      {header ?? (
        <header className="flex min-h-14 flex-wrap items-center justify-between gap-x-4 gap-y-2 border-b border-line px-4 py-2 md:px-6">
          <h1 className="text-lg font-semibold">{title}</h1>
          {actions && <div className="flex flex-wrap items-center gap-2">{actions}</div>}
        </header>
      )}
      {children}
    </div>
  )
}
