import type { Task } from 'holdfast/client'
import { useThread } from 'holdfast/react'
import { harmlessText } from '../../design/harmless-text.ts'
import { useHasManyLines } from '../../live-lines.ts'
import { Section } from './section.tsx'

// The end is what changes; the whole is in the thread and in the events.
const shownMax = 4000

/** What a running task has said so far, as it says it. What a resume abandons goes from here too. */
export function LiveOutput({ task }: { readonly task: Task }) {
  // Where each log is a connection of its own, this one is not worth it: the events of the task have the same words.
  return useHasManyLines() ? <Followed task={task} /> : null
}

function Followed({ task }: { readonly task: Task }) {
  const { live } = useThread(task.thread)
  const parts = live.get(task.id) ?? []
  const text = parts.flatMap((part) => (part.type === 'text' ? part.text : [])).join('')
  if (text === '') return null
  return (
    <Section title="Output so far">
      <p className="rounded-lg border border-line bg-panel p-4 break-words whitespace-pre-wrap">
        {text.length > shownMax && '… '}
        {harmlessText(text.slice(-shownMax))}
      </p>
    </Section>
  )
}
