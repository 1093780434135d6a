import { isTerminal, type Task, type ThreadEvent } from 'holdfast/client'
import { harmlessText } from '../../design/harmless-text.ts'
import { clockText } from '../../design/span-text.ts'

type Mail = Extract<ThreadEvent, { type: 'inbox.accepted' }>

interface InboxProps {
  readonly task: Task
  readonly mail: readonly Mail[]
}

/** What was sent to a task. Of one that has ended it is known what it never read. */
export function Inbox({ task, mail }: InboxProps) {
  const firstUnread = mail.findIndex(({ data }) => task.unread?.includes(data.id))
  const isUnread = (at: number) => isTerminal(task.status) && firstUnread >= 0 && at >= firstUnread
  return (
    <ul className="flex flex-col overflow-hidden rounded-lg border border-line bg-panel">
      {mail.map(({ seq, at, data }, index) => (
        <li key={seq} className="flex flex-col gap-1 border-b border-line px-4 py-2 last:border-b-0">
          <span className="flex gap-3 text-xs text-ink-faint">
            <span className="font-mono">{clockText(at)}</span>
            {data.from !== undefined && <span>from {harmlessText(data.from)}</span>}
            {isUnread(index) && <span className="font-medium text-warn">never read</span>}
          </span>
          <span className="break-words whitespace-pre-wrap">
            {harmlessText(typeof data.content === 'string' ? data.content : (JSON.stringify(data.content) ?? ''))}
          </span>
        </li>
      ))}
    </ul>
  )
}
