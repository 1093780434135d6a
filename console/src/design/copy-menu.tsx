import { Copy } from 'lucide-react'
import { say } from '../shell/notices.ts'
import { Button } from './button.tsx'
import { copyText } from './copying.ts'
import { Menu } from './menu.tsx'

export interface Copyable {
  /** Such as `curl`. */
  readonly title: string
  readonly text: () => string
  readonly hint?: string
}

/** Copies a thing in one of the forms in which it is of use elsewhere. */
export function CopyMenu({ items }: { readonly items: readonly Copyable[] }) {
  return (
    <Menu
      label="Copy"
      trigger={
        <Button>
          <Copy size={14} aria-hidden /> Copy
        </Button>
      }
      items={items.map(({ title, text, hint }) => ({
        title,
        ...(hint !== undefined && { hint }),
        onSelect: () => void copyAndSay(title, text()),
      }))}
    />
  )
}

export async function copyAndSay(title: string, text: string): Promise<void> {
  say((await copyText(text)) ? `Copied: ${title}` : 'This browser did not let it be copied')
}
