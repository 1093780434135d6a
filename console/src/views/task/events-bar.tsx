import { useClient } from 'holdfast/react'
import { ArrowDownToLine, ChevronDown, Download, Pause, Search } from 'lucide-react'
import type { RefObject } from 'react'
import { Button } from '../../design/button.tsx'
import { classes } from '../../design/classes.ts'
import { messageOf } from '../../design/error-state.tsx'
import { Menu } from '../../design/menu.tsx'
import { taskTitle } from '../../design/task-title.ts'
import { say } from '../../shell/notices.ts'
import { downloadLog } from './download-log.ts'
import type { TreeLine } from './task-tree.ts'
import type { useFollow } from './use-follow.ts'

interface EventsBarProps {
  readonly of: string
  readonly thread: string
  readonly lines: readonly TreeLine[]
  readonly text: string
  readonly onText: (text: string) => void
  readonly onOf: (of: string) => void
  readonly inputRef: RefObject<HTMLInputElement | null>
  readonly follow: ReturnType<typeof useFollow>
  readonly isLive: boolean
  readonly shownCount: number
  readonly allCount: number
  /** How many older events are not kept on the page. */
  readonly letGo: number
}

// More than fit into a menu; the others are chosen in the timeline.
const choicesMax = 12

export function EventsBar(props: EventsBarProps) {
  const { of, lines, text, onText, onOf, inputRef, follow, isLive, shownCount, allCount, letGo } = props
  const chosen = lines.find(({ task }) => task.id === of)?.task
  const choices = lines.slice(0, choicesMax).map(({ task }) => ({
    title: taskTitle(task, 40),
    hint: task.id,
    onSelect: () => onOf(task.id),
  }))
  return (
    <div className="flex shrink-0 flex-wrap items-center gap-2 border-b border-line px-4 py-2 md:px-6">
      <label className="flex h-8 min-w-0 flex-1 basis-40 items-center gap-2 rounded-md border border-line-strong bg-panel px-2.5 focus-within:outline-2 focus-within:outline-focus md:max-w-64">
        <Search size={14} aria-hidden className="shrink-0 text-ink-faint" />
        <input
          ref={inputRef}
          type="search"
          value={text}
          onChange={(event) => onText(event.target.value)}
          onKeyDown={(event) => event.key === 'Escape' && event.currentTarget.blur()}
          placeholder="Filter events"
          aria-label="Filter events"
          className="min-w-0 flex-1 bg-transparent outline-none placeholder:text-ink-faint"
        />
      </label>
      {lines.length > 1 && (
        <Menu
          label="Whose events"
          trigger={
            <Button>
              <span className="max-w-28 truncate md:max-w-48">
                {of === 'tree' ? 'Whole tree' : chosen ? taskTitle(chosen, 40) : of}
              </span>
              <ChevronDown size={14} aria-hidden />
            </Button>
          }
          items={[{ title: 'Whole tree', hint: `${lines.length} tasks`, onSelect: () => onOf('tree') }, ...choices]}
        />
      )}
      <Counts shownCount={shownCount} allCount={allCount} letGo={letGo} />
      <span className="ml-auto flex gap-2">
        {isLive && <FollowButton follow={follow} />}
        <DownloadButton {...props} />
      </span>
    </div>
  )
}

/** Where there is little room it is told only of a log that is not whole, below the rest. */
function Counts({ shownCount, allCount, letGo }: Pick<EventsBarProps, 'shownCount' | 'allCount' | 'letGo'>) {
  const [shown, all, older] = [shownCount, allCount, letGo].map((count) => count.toLocaleString('en'))
  return (
    <span
      className={classes(
        'order-last w-full text-xs text-ink-faint md:order-none md:w-auto',
        letGo === 0 && 'max-md:hidden',
      )}
    >
      {shownCount === allCount ? `${all} events` : `${shown} of ${all} events`}
      {letGo > 0 && `, ${older} older not shown`}
    </span>
  )
}

function FollowButton({ follow: { isFollowing, newCount, toggle } }: Pick<EventsBarProps, 'follow'>) {
  return (
    <Button aria-pressed={isFollowing} onClick={toggle} look={isFollowing ? 'plain' : 'solid'}>
      {isFollowing ? <ArrowDownToLine size={14} aria-hidden /> : <Pause size={14} aria-hidden />}
      {isFollowing ? 'Following' : `Paused, ${newCount} new`}
    </Button>
  )
}

function DownloadButton({ of, thread, lines }: EventsBarProps) {
  const client = useClient()
  const download = () =>
    downloadLog(client, { thread, ...logOf(of, lines) }).catch((error: unknown) =>
      say(messageOf(error), { isBad: true }),
    )
  return (
    <Button onClick={() => void download()} aria-label="Download as NDJSON">
      <Download size={14} aria-hidden /> <span className="hidden md:inline">NDJSON</span>
    </Button>
  )
}

/** Of a tree the events of all its tasks, in a file that is named after the first. */
function logOf(of: string, lines: readonly TreeLine[]): { readonly task: string; readonly tree?: readonly string[] } {
  if (of !== 'tree') return { task: of }
  const ids = lines.map(({ task }) => task.id)
  return { task: ids[0] ?? of, tree: ids }
}
