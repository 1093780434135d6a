import { Copy } from 'lucide-react'
import { useState } from 'react'
import { Button } from '../../design/button.tsx'
import { copyAndSay } from '../../design/copy-menu.tsx'
import { harmlessText } from '../../design/harmless-text.ts'
import { Segments } from '../../design/segments.tsx'
import { type Snippet, type SnippetRequest, snippetsOf } from './snippets.ts'

const languages = ['TypeScript', 'curl', 'CLI'] as const

/** The run that the form stands for, as it is asked for elsewhere. */
export function Snippets({ request }: { readonly request: SnippetRequest }) {
  const [language, setLanguage] = useState<Snippet['language']>('TypeScript')
  const text = snippetsOf(request).find((snippet) => snippet.language === language)?.text ?? ''
  return (
    <section aria-label="The same in code" className="flex min-w-0 flex-col gap-3 lg:pt-1">
      <header className="flex items-center justify-between gap-3">
        <Segments
          label="Language"
          value={language}
          onChange={setLanguage}
          options={languages.map((name) => ({ name, title: name }))}
        />
        <Button look="quiet" onClick={() => void copyAndSay(language, text)}>
          <Copy size={14} aria-hidden /> Copy
        </Button>
      </header>
      <pre
        data-snippet={language}
        // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by keys.
        tabIndex={0}
        className="scroller rounded-lg border border-line bg-sunken p-4 font-mono text-xs leading-5"
      >
        {harmlessText(text)}
      </pre>
      <p className="text-xs text-ink-soft">
        The token is read from <code className="font-mono">HOLDFAST_TOKEN</code>; the console never shows it.
      </p>
    </section>
  )
}
