import type { Message, Part } from 'holdfast/client'
import type { ReactElement } from 'react'

interface SaidProps {
  readonly message: Message
  readonly error: string | undefined
}

/** What was said, and if it was not said to its end, why. */
export function Said({ message: { role, parts, finish }, error }: SaidProps): ReactElement {
  if (role !== 'assistant') return <p className="said user">{parts.map(textOf).join('\n')}</p>
  return (
    <>
      <Answer parts={parts} isLive={false} />
      {finish === 'cancelled' && <p className="note">Stopped</p>}
      {(finish === 'error' || finish === 'timeout') && <p className="note">{error ?? 'It failed'}</p>}
    </>
  )
}

export function Answer({ parts, isLive }: { readonly parts: readonly Part[]; readonly isLive: boolean }): ReactElement {
  return (
    <article className={isLive ? 'said assistant live' : 'said assistant'}>
      {parts.map((part, place) => (
        // Parts are only ever added at the end, so a place names its part.
        // biome-ignore lint/suspicious/noArrayIndexKey: see above.
        <Shown key={place} part={part} />
      ))}
    </article>
  )
}

function Shown({ part }: { readonly part: Part }): ReactElement {
  switch (part.type) {
    case 'text':
      return <p>{part.text}</p>
    case 'reasoning':
      return (
        <details>
          <summary>Thought about it</summary>
          {part.text}
        </details>
      )
    case 'tool':
      return (
        <details className="tool">
          <summary>
            {part.name} <span>{toolState(part)}</span>
          </summary>
          <pre>{JSON.stringify({ input: part.input, output: part.output, error: part.error }, null, 2)}</pre>
        </details>
      )
    case 'file':
      return isLink(part.url) ? (
        <a href={part.url} download={part.name}>
          {part.name ?? part.mediaType}
        </a>
      ) : (
        <p>{part.name ?? part.mediaType}</p>
      )
    case 'data':
      return <pre>{JSON.stringify(part.value, null, 2)}</pre>
  }
}

/** What an agent shows may come from anywhere, so that it must not run in the page. */
function isLink(url: string): boolean {
  return /^(https?:\/\/|data:image\/)/i.test(url)
}

function toolState({ output, error }: Extract<Part, { type: 'tool' }>): string {
  if (error !== undefined) return 'failed'
  return output === undefined ? 'at work' : 'done'
}

function textOf(part: Part): string {
  if (part.type === 'text') return part.text
  return part.type === 'file' ? (part.name ?? part.mediaType) : ''
}
