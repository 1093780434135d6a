import { SearchX } from 'lucide-react'
import { Link } from 'wouter'
import { Empty } from './empty.tsx'

interface Words {
  readonly why: string
  readonly path: string
  /** Where that leads. */
  readonly all: string
}

// It is not there, or it is somebody else's: which of the two, nobody is told.
const gone = 'It may have been deleted, or it belongs to somebody else.'
const others: Words = { why: gone, path: '/tasks', all: 'tasks' }
const words: Readonly<Record<string, Words>> = {
  thread: { why: gone, path: '/threads', all: 'threads' },
  agent: { why: 'This server has none of that name.', path: '/agents', all: 'agents' },
  page: { ...others, why: 'Nothing of the console is at this address.' },
}

/** There is no such thing: why that may be, and the way to what there is. */
export function NotFound({ what }: { readonly what: string }) {
  const { why, path, all } = words[what] ?? others
  return (
    <Empty icon={SearchX} title={`There is no such ${what}`}>
      <p>{why}</p>
      <Link href={path} className="font-medium text-accent underline underline-offset-3">
        See all {all}
      </Link>
    </Empty>
  )
}
