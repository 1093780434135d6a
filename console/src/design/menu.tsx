import { DropdownMenu } from 'radix-ui'
import type { ReactNode } from 'react'

interface MenuItem {
  readonly title: string
  readonly hint?: string
  readonly onSelect: () => void
}

interface MenuProps {
  /** The button that opens it. */
  readonly trigger: ReactNode
  readonly items: readonly MenuItem[]
  readonly label: string
}

/** Not modal: what keeps a page from scrolling is a style element, which the policy of the page would refuse. */
export function Menu({ trigger, items, label }: MenuProps) {
  return (
    <DropdownMenu.Root modal={false}>
      <DropdownMenu.Trigger asChild>{trigger}</DropdownMenu.Trigger>
      <DropdownMenu.Portal>
        <DropdownMenu.Content
          align="end"
          sideOffset={6}
          collisionPadding={8}
          aria-label={label}
          className="z-30 min-w-48 animate-appear rounded-md border border-line bg-raised p-1 shadow-raised"
        >
          {items.map(({ title, hint, onSelect }) => (
            <DropdownMenu.Item
              key={title}
              onSelect={onSelect}
              className="flex cursor-pointer items-center justify-between gap-6 rounded-sm px-2.5 py-1.5 outline-none data-highlighted:bg-hover"
            >
              {title}
              {hint && <span className="font-mono text-xs text-ink-faint">{hint}</span>}
            </DropdownMenu.Item>
          ))}
        </DropdownMenu.Content>
      </DropdownMenu.Portal>
    </DropdownMenu.Root>
  )
}
