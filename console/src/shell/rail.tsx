import { Activity, Bot, ListTree, type LucideIcon, MessagesSquare } from 'lucide-react'
import { Link, useLocation } from 'wouter'
import { classes } from '../design/classes.ts'
import { Mark } from '../design/mark.tsx'
import { ConnectionPill } from './connection-pill.tsx'
import { ThemeSwitch } from './theme-switch.tsx'

interface Place {
  readonly path: string
  readonly title: string
  readonly icon: LucideIcon
}

const places: readonly Place[] = [
  { path: '/tasks', title: 'Tasks', icon: ListTree },
  { path: '/threads', title: 'Threads', icon: MessagesSquare },
  { path: '/agents', title: 'Agents', icon: Bot },
  { path: '/system', title: 'System', icon: Activity },
]

/** The way around: at the side, and on a phone at the bottom. */
export function Rail() {
  const [at] = useLocation()
  const isAt = ({ path }: Place) => at === path || at.startsWith(`${path}/`) || (path === '/tasks' && at === '/')
  return (
    <nav
      aria-label="Main"
      className="order-last flex shrink-0 border-t border-line bg-panel pb-[env(safe-area-inset-bottom)] md:order-first md:w-52 md:flex-col md:border-t-0 md:border-r md:p-3"
    >
      <span className="hidden h-10 items-center gap-2.5 px-2 text-md font-semibold tracking-tight md:flex">
        <Mark /> Holdfast
      </span>
      <ul className="flex flex-1 md:mt-4 md:flex-col md:gap-0.5">
        {places.map((place) => (
          <li key={place.path} className="flex-1 md:flex-none">
            <PlaceLink place={place} isCurrent={isAt(place)} />
          </li>
        ))}
      </ul>
      <div className="hidden items-center justify-between pl-2 md:flex">
        <ConnectionPill />
        <ThemeSwitch />
      </div>
    </nav>
  )
}

function PlaceLink({ place: { path, title, icon: Icon }, isCurrent }: { readonly place: Place; isCurrent: boolean }) {
  return (
    <Link
      href={path}
      aria-current={isCurrent ? 'page' : undefined}
      className={classes(
        'flex h-14 flex-col items-center justify-center gap-1 text-xs font-medium md:h-8 md:flex-row md:justify-start md:gap-2.5 md:rounded-md md:px-2 md:text-sm',
        isCurrent ? 'text-accent md:bg-selected md:text-ink' : 'text-ink-soft hover:text-ink md:hover:bg-hover',
      )}
    >
      <Icon size={18} strokeWidth={1.9} aria-hidden className={classes(isCurrent && 'text-accent')} />
      {title}
    </Link>
  )
}
