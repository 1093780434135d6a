import { SearchX } from 'lucide-react'
import { Link } from 'wouter'
import { Empty } from './empty.tsx'

/** There is no such thing, or it is somebody else's: which of the two, nobody is told. */
export function NotFound({ what }: { readonly what: string }) {
  return (
    <Empty icon={SearchX} title={`There is no such ${what}`}>
      <p>It may have been deleted, or it belongs to somebody else.</p>
      <Link href="/tasks" className="font-medium text-accent underline underline-offset-3">
        See all tasks
      </Link>
    </Empty>
  )
}
