import { classes } from '../design/classes.ts'
import { useNotices } from './notices.ts'

export function NoticeList() {
  const notices = useNotices()
  return (
    <div
      aria-live="polite"
      className="pointer-events-none fixed inset-x-0 bottom-20 z-40 flex flex-col items-center gap-2 px-4 md:bottom-6"
    >
      {notices.map(({ id, text, isBad }) => (
        <p
          key={id}
          className={classes(
            'animate-appear rounded-md px-3 py-2 text-sm shadow-raised',
            isBad ? 'border border-bad bg-bad-soft text-bad' : 'bg-ink text-page',
          )}
        >
          {text}
        </p>
      ))}
    </div>
  )
}
