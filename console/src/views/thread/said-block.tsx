import type { Message, Part } from 'holdfast/client'
import { Bell, ChevronRight } from 'lucide-react'
import { memo } from 'react'
import { harmlessText } from '../../design/harmless-text.ts'
import { Json } from '../../design/json.tsx'
import { dateText } from '../../design/span-text.ts'
import { FilePart } from './file-part.tsx'

/** What somebody said to a run. It is shown as it was typed. */
export const SaidBlock = memo(function SaidBlock({ message }: { readonly message: Message }) {
  if (message.role !== 'user') return <Woken message={message} />
  return (
    <article aria-label="Prompt" title={dateText(message.at)} className="flex flex-col items-end">
      <div className="flex max-w-[min(36rem,88%)] flex-col gap-2 rounded-lg rounded-br-sm bg-selected px-4 py-2.5 text-md break-words">
        {message.parts.map((part, at) => {
          // biome-ignore lint/suspicious/noArrayIndexKey: the parts of a message that is written never change.
          if (part.type === 'file') return <FilePart key={at} part={part} />
          // biome-ignore lint/suspicious/noArrayIndexKey: the same.
          if (part.type === 'data') return <DataPart key={at} part={part} />
          const text = part.type === 'tool' ? part.name : part.text
          return (
            // biome-ignore lint/suspicious/noArrayIndexKey: the same.
            <p key={at} dir="auto" className="whitespace-pre-wrap">
              {harmlessText(text)}
            </p>
          )
        })}
      </div>
    </article>
  )
})

// What is longer than this is a program's rather than a person's, and stays folded.
const shownLengthMax = 300

function DataPart({ part }: { readonly part: Extract<Part, { type: 'data' }> }) {
  const isLong = JSON.stringify(part.value).length > shownLengthMax
  return (
    <details open={!isLong} className="group min-w-0">
      <summary className="flex list-none items-center gap-1.5 rounded-sm text-xs font-medium text-ink-soft hover:text-ink [&::-webkit-details-marker]:hidden">
        <ChevronRight size={14} aria-hidden className="group-open:rotate-90" /> {harmlessText(part.name)}
      </summary>
      <div className="mt-2">
        <Json value={part.value} label={part.name} />
      </div>
    </details>
  )
}

/** What the runtime itself put into the conversation, such as results that woke it. */
function Woken({ message }: { readonly message: Message }) {
  const values = message.parts.map((part) => (part.type === 'data' ? part.value : part))
  return (
    <details className="group rounded-md border border-line bg-panel px-3 py-2">
      <summary className="flex list-none items-center gap-2 text-xs font-medium text-ink-soft [&::-webkit-details-marker]:hidden">
        <Bell size={14} aria-hidden />
        {message.role === 'system' ? 'Woken by results of background tasks' : 'From a tool'}
      </summary>
      <div className="mt-2">
        <Json value={values.length === 1 ? values[0] : values} label="the results" />
      </div>
    </details>
  )
}
