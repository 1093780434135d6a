import type { ReactNode } from 'react'

export const inputLook =
  'h-9 w-full rounded-md border border-line-strong bg-panel px-3 placeholder:text-ink-faint aria-invalid:border-bad'

/** What makes a control understood by who does not see it. */
export interface ControlProps {
  readonly id: string
  readonly 'aria-describedby': string
  readonly 'aria-invalid': boolean
  readonly required: boolean
}

interface LabelledProps {
  readonly id: string
  readonly label: string
  readonly isRequired: boolean
  readonly hint?: string | undefined
  readonly fault?: string | undefined
  readonly children: (props: ControlProps) => ReactNode
}

/** A control with its name above it, and below it what it is for and what is wrong with it. */
export function Labelled({ id, label, isRequired, hint, fault, children }: LabelledProps) {
  const noteId = `${id}-note`
  return (
    <div className="flex flex-col gap-1.5">
      <label htmlFor={id} className="font-medium">
        {label}
        {!isRequired && <OptionalNote />}
      </label>
      {children({ id, 'aria-describedby': noteId, 'aria-invalid': fault !== undefined, required: isRequired })}
      <div id={noteId} className="empty:hidden">
        {hint && <p className="text-xs text-ink-soft">{hint}</p>}
        {fault !== undefined && (
          <p data-fault={id} className="text-xs font-medium text-bad">
            {fault}
          </p>
        )}
      </div>
    </div>
  )
}

/** The space keeps a screen reader from making one word of it and the label. */
export function OptionalNote() {
  return (
    <>
      {' '}
      <span className="ml-1 font-normal text-ink-faint">optional</span>
    </>
  )
}
