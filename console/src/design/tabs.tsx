import { Tabs as Radix } from 'radix-ui'
import type { ReactNode } from 'react'

export interface Tab<Name extends string> {
  readonly name: Name
  readonly title: string
  /** Beside the title, such as a count. */
  readonly note?: ReactNode
}

interface TabsProps<Name extends string> {
  readonly tabs: readonly Tab<Name>[]
  readonly value: Name
  readonly onChange: (name: Name) => void
  readonly children: ReactNode
  readonly label: string
}

/** The panel of the chosen tab is what is given as children. */
export function Tabs<Name extends string>({ tabs, value, onChange, children, label }: TabsProps<Name>) {
  return (
    <Radix.Root value={value} onValueChange={(name) => onChange(name as Name)} className="flex min-h-0 flex-1 flex-col">
      <Radix.List aria-label={label} className="flex gap-5 border-b border-line px-4 md:px-6">
        {tabs.map(({ name, title, note }) => (
          <Radix.Trigger
            key={name}
            value={name}
            className="-mb-px flex h-10 items-center gap-1.5 border-b-2 border-transparent font-medium text-ink-soft hover:text-ink data-[state=active]:border-accent data-[state=active]:text-ink"
          >
            {title}
            {note !== undefined && <span className="text-xs font-normal text-ink-faint">{note}</span>}
          </Radix.Trigger>
        ))}
      </Radix.List>
      <Radix.Content value={value} tabIndex={-1} className="flex min-h-0 flex-1 flex-col outline-none">
        {children}
      </Radix.Content>
    </Radix.Root>
  )
}
