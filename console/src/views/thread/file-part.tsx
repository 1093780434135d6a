import type { Part } from 'holdfast/client'
import { Paperclip } from 'lucide-react'
import { harmlessText, harmlessUrl } from '../../design/harmless-text.ts'

type File = Extract<Part, { type: 'file' }>

// A picture that is in the message itself is shown; any other would be loaded from elsewhere, and tell that it was read.
const pictures = /^data:image\/(?:png|jpeg|gif|webp|avif);base64,/

export function FilePart({ part }: { readonly part: File }) {
  const name = harmlessText(part.name ?? part.mediaType)
  if (pictures.test(part.url)) {
    return <img src={part.url} alt={name} className="max-h-80 max-w-full self-start rounded-md border border-line" />
  }
  const href = harmlessUrl(part.url)
  const text = (
    <>
      <Paperclip size={14} aria-hidden className="shrink-0" /> <span className="truncate">{name}</span>
      <span className="shrink-0 text-xs text-ink-faint">{harmlessText(part.mediaType)}</span>
    </>
  )
  const look = 'inline-flex h-8 max-w-full items-center gap-2 self-start rounded-md border border-line bg-panel px-3'
  if (href === undefined) return <span className={look}>{text}</span>
  return (
    <a href={href} title={href} target="_blank" rel="noopener noreferrer" className={`${look} hover:bg-hover`}>
      {text}
    </a>
  )
}
