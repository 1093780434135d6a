import { Tooltip as Radix } from 'radix-ui'
import type { ReactNode } from 'react'

export function TooltipScope({ children }: { readonly children: ReactNode }) {
  return <Radix.Provider delayDuration={350}>{children}</Radix.Provider>
}

interface TooltipProps {
  readonly text: string
  readonly side?: 'top' | 'right' | 'bottom' | 'left'
  readonly children: ReactNode
}

export function Tooltip({ text, side = 'bottom', children }: TooltipProps) {
  return (
    <Radix.Root>
      <Radix.Trigger asChild>{children}</Radix.Trigger>
      <Radix.Portal>
        <Radix.Content
          side={side}
          sideOffset={6}
          collisionPadding={8}
          className="z-40 max-w-80 animate-appear rounded-sm bg-ink px-2 py-1 text-xs text-page"
        >
          {text}
        </Radix.Content>
      </Radix.Portal>
    </Radix.Root>
  )
}
