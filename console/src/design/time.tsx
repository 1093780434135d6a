import { useNow } from './now.ts'
import { ageText, dateText, durationText, lastingText } from './span-text.ts'

/** How long ago; the exact time is in its title. */
export function Age({ at }: { readonly at: number }) {
  const now = useNow()
  return (
    <time dateTime={new Date(at).toISOString()} title={dateText(at)} className="whitespace-nowrap">
      {ageText(now - at)}
    </time>
  )
}

/** How long from one time to another, or until now. */
export function Duration({ from, to }: { readonly from: number; readonly to?: number | undefined }) {
  const now = useNow(to === undefined)
  const ms = (to ?? Math.max(now, from)) - from
  return <span className="whitespace-nowrap">{to === undefined ? lastingText(ms) : durationText(ms)}</span>
}
