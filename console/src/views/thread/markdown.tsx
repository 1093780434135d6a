import { Copy } from 'lucide-react'
import { gfmFromMarkdown } from 'mdast-util-gfm'
import { gfm } from 'micromark-extension-gfm'
import { Component, type ComponentProps, isValidElement, memo, type ReactNode, useRef } from 'react'
import ReactMarkdown, { type Components } from 'react-markdown'
import { Button } from '../../design/button.tsx'
import { copyAndSay } from '../../design/copy-menu.tsx'
import { harmlessText, harmlessUrl } from '../../design/harmless-text.ts'
import { isIntricate, textBlocks } from './text-blocks.ts'

const plugins = [gitHubMarkdown]

/** Tables, bare links and the like. It reads them only: `remark-gfm` brings along what writes them, which is not small. */
function gitHubMarkdown(this: { data(): object }): void {
  Object.assign(this.data(), { micromarkExtensions: [gfm()], fromMarkdownExtensions: [gfmFromMarkdown()] })
}

/**
 * What a model wrote, which nobody has looked at: markup in it stays text, a link leads to the web or to mail and tells the
 * other side nothing, and nothing is loaded from elsewhere.
 */
export function Markdown({ text }: { readonly text: string }) {
  return (
    <div className="flex flex-col gap-3 text-md break-words">
      {textBlocks(text).map((block, at) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: a text grows at its end, where the last block is.
        <Block key={at} text={block} />
      ))}
    </div>
  )
}

const Block = memo(function Block({ text }: { readonly text: string }) {
  const plain = (
    <p dir="auto" className="whitespace-pre-wrap">
      {harmlessText(text)}
    </p>
  )
  if (isIntricate(text)) return plain
  return (
    <Fallback to={plain}>
      <Formatted text={text} />
    </Fallback>
  )
})

/** Shows what it is given instead of what cannot be shown, so that one block does not take the others with it. */
class Fallback extends Component<{ readonly to: ReactNode; readonly children: ReactNode }, { hasFailed: boolean }> {
  override state = { hasFailed: false }

  static getDerivedStateFromError(): { hasFailed: boolean } {
    return { hasFailed: true }
  }

  override render(): ReactNode {
    return this.state.hasFailed ? this.props.to : this.props.children
  }
}

function Formatted({ text }: { readonly text: string }) {
  return (
    <ReactMarkdown remarkPlugins={plugins} urlTransform={(url) => harmlessUrl(url) ?? ''} components={components}>
      {harmlessText(text)}
    </ReactMarkdown>
  )
}

type Given<Tag extends keyof React.JSX.IntrinsicElements> = ComponentProps<Tag> & { readonly node?: unknown }

const components: Components = {
  a: ({ href, children }: Given<'a'>) => <OutwardLink href={href}>{children}</OutwardLink>,
  img: ({ src, alt }: Given<'img'>) => (
    <OutwardLink href={typeof src === 'string' ? src : undefined}>image: {alt || 'without a text'}</OutwardLink>
  ),
  pre: ({ children }: Given<'pre'>) => <CodeBlock>{children}</CodeBlock>,
  code: ({ children }: Given<'code'>) => (
    <code className="rounded-sm bg-sunken px-1 py-0.5 font-mono text-[0.86em]">{children}</code>
  ),
  // With a direction of its own, it would not count for that of the list or the quote that it is in.
  p: ({ children }: Given<'p'>) => <p className="[unicode-bidi:plaintext]">{children}</p>,
  h1: heading('h3', 'mt-2 text-lg font-semibold'),
  h2: heading('h3', 'mt-2 text-lg font-semibold'),
  h3: heading('h4', 'mt-1 font-semibold'),
  h4: heading('h4', 'mt-1 font-semibold'),
  h5: heading('h5', 'font-semibold'),
  h6: heading('h5', 'font-semibold'),
  ul: ({ children }: Given<'ul'>) => (
    <ul dir="auto" className="flex list-disc flex-col gap-1 ps-5">
      {children}
    </ul>
  ),
  ol: ({ children, start }: Given<'ol'>) => (
    <ol dir="auto" start={start} className="flex list-decimal flex-col gap-1 ps-6">
      {children}
    </ol>
  ),
  blockquote: ({ children }: Given<'blockquote'>) => (
    <blockquote dir="auto" className="border-s-2 border-line-strong ps-4 text-ink-soft">
      {children}
    </blockquote>
  ),
  hr: () => <hr className="border-line" />,
  table: ({ children }: Given<'table'>) => (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by keys.
    <div tabIndex={0} className="scroller rounded-md border border-line">
      <table dir="auto" className="w-full text-start text-sm">
        {children}
      </table>
    </div>
  ),
  th: ({ children }: Given<'th'>) => <th className="bg-sunken px-3 py-1.5 text-start font-semibold">{children}</th>,
  td: ({ children }: Given<'td'>) => <td className="border-t border-line px-3 py-1.5 align-top">{children}</td>,
  input: ({ checked }: Given<'input'>) => <span className="font-mono">{checked ? '[x]' : '[ ]'} </span>,
}

function OutwardLink({ href, children }: { readonly href?: string | undefined; readonly children: ReactNode }) {
  if (!href) return <span className="underline decoration-dotted underline-offset-3">{children}</span>
  return (
    <a
      href={href}
      title={href}
      target="_blank"
      rel="noopener noreferrer"
      className="font-medium text-accent underline underline-offset-3"
    >
      {children}
    </a>
  )
}

/** The page has headings above it, so those of a text begin lower. */
function heading(Tag: 'h3' | 'h4' | 'h5', look: string) {
  return ({ children }: Given<'h1'>) => (
    <Tag dir="auto" className={look}>
      {children}
    </Tag>
  )
}

/** What a fence says of itself, by which it is known what its code is written in. */
function languageOf(code: ReactNode): string {
  const { className } = isValidElement<ComponentProps<'code'>>(code) ? code.props : {}
  return /\blanguage-(\S+)/.exec(className ?? '')?.[1] ?? ''
}

function CodeBlock({ children }: { readonly children: ReactNode }) {
  const ref = useRef<HTMLPreElement>(null)
  return (
    <div dir="ltr" className="rounded-md border border-line bg-sunken">
      <div className="flex items-center justify-between gap-2 pt-0.5 pr-0.5 pl-3 text-xs text-ink-soft">
        <span className="min-w-0 truncate font-mono">{languageOf(children)}</span>
        <Button
          look="quiet"
          className="h-7! px-2! text-xs"
          aria-label="Copy the code"
          onClick={() => void copyAndSay('the code', ref.current?.textContent ?? '')}
        >
          <Copy size={14} aria-hidden /> Copy
        </Button>
      </div>
      <pre
        ref={ref}
        // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by keys.
        tabIndex={0}
        className="scroller rounded-md px-3 pt-1 pb-3 text-sm [&>code]:bg-transparent [&>code]:p-0 [&>code]:text-sm"
      >
        {children}
      </pre>
    </div>
  )
}
