import type { Task } from 'holdfast/client'
import { Link } from 'wouter'
import { CopyMenu } from '../../design/copy-menu.tsx'
import { shellArgument, shellWord } from '../../design/shell-word.ts'
import { Status, shownStatus } from '../../design/status.tsx'
import { apiUrl } from '../../place.ts'

interface ThreadHeaderProps {
  readonly thread: string
  readonly run: Task | undefined
  readonly waiting: number
}

export function ThreadHeader({ thread, run, waiting }: ThreadHeaderProps) {
  return (
    <header className="flex min-h-14 items-center justify-between gap-4 border-b border-line px-4 py-2 md:px-6">
      <div className="flex min-w-0 items-center gap-2">
        <nav aria-label="Breadcrumb" className="flex shrink-0 items-center gap-2 text-ink-faint">
          <Link href="/threads" className="rounded-sm hover:text-ink hover:underline">
            Threads
          </Link>
          <span aria-hidden>/</span>
        </nav>
        <h1 className="truncate text-lg font-semibold">{thread}</h1>
        <span className="ml-2 hidden shrink-0 items-center gap-3 sm:flex">
          {run && <Status status={shownStatus(run)} isBadge />}
          {waiting > 0 && <span className="text-xs text-ink-faint">{waiting} queued</span>}
        </span>
      </div>
      <CopyMenu items={copyables(thread)} />
    </header>
  )
}

function copyables(thread: string) {
  const path = `/v1/threads/${encodeURIComponent(thread)}`
  return [
    { title: 'Id', text: () => thread },
    { title: 'Link', text: () => location.href, hint: 'y' },
    { title: 'curl', text: () => `curl -H "Authorization: Bearer $HOLDFAST_TOKEN" ${shellWord(apiUrl + path)}` },
    { title: 'CLI', text: () => `holdfast --url ${shellWord(apiUrl)} attach ${shellArgument(thread)}` },
  ]
}
