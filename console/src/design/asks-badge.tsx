import { MessageCircleQuestion } from 'lucide-react'

/** So many questions wait for a person. */
export function AsksBadge({ count }: { readonly count: number }) {
  if (count === 0) return null
  return (
    <span className="inline-flex h-5 shrink-0 items-center gap-1 rounded-full bg-warn-soft px-2 text-xs font-medium text-warn">
      <MessageCircleQuestion size={13} aria-hidden /> {count === 1 ? 'asks you' : `${count} questions`}
    </span>
  )
}
