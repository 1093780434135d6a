import { Copy } from 'lucide-react'
import { useMemo } from 'react'
import { Button } from './button.tsx'
import { copyAndSay } from './copy-menu.tsx'
import { harmlessText } from './harmless-text.ts'

// Enough to read; what is longer is for a program, which gets it by the button.
const shownMax = 100_000

interface JsonProps {
  readonly value: unknown
  readonly label?: string
}

/** A value as indented text, never as markup, with a button that copies all of it. */
export function Json({ value, label = 'JSON' }: JsonProps) {
  const text = useMemo(() => JSON.stringify(value, null, 2) ?? 'undefined', [value])
  return (
    <div className="group relative">
      <pre
        // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by keys.
        tabIndex={0}
        className="scroller max-h-[60vh] rounded-md bg-sunken p-3 font-mono text-xs break-words whitespace-pre-wrap"
      >
        {harmlessText(text.slice(0, shownMax))}
        {text.length > shownMax && `\n… ${text.length - shownMax} more characters; copy it to see all`}
      </pre>
      <Button
        look="quiet"
        isIcon
        aria-label={`Copy ${label}`}
        onClick={() => void copyAndSay(label, text)}
        className="absolute top-1 right-1 bg-sunken opacity-0 group-hover:opacity-100 focus-visible:opacity-100 pointer-coarse:opacity-100"
      >
        <Copy size={14} aria-hidden />
      </Button>
    </div>
  )
}
