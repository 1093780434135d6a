import { ArrowDown, LoaderCircle } from 'lucide-react'
import { type RefObject, useEffect, useLayoutEffect, useRef, useState } from 'react'
import { Button } from '../../design/button.tsx'
import { AsideBlock } from './aside-block.tsx'
import { type BlockProps, RunBlock } from './run-block.tsx'
import { SaidBlock } from './said-block.tsx'
import type { Entry } from './transcript.ts'
import { useStickiness } from './use-stickiness.ts'

interface TranscriptListProps extends BlockProps {
  readonly entries: readonly Entry[]
  readonly hasOlder: boolean
  readonly isLoadingOlder: boolean
  /** They could not be read: only who asks for them again gets them. */
  readonly isOlderRefused: boolean
  readonly onOlder: () => void
  readonly scrollRef: RefObject<HTMLDivElement | null>
}

// About three screens. More are laid out as somebody scrolls up to them.
const shownCountFirst = 30

/**
 * The column, of which only the end is laid out until somebody scrolls up. It stays at its end while it grows, unless somebody
 * has scrolled away from there.
 */
export function TranscriptList(props: TranscriptListProps) {
  const { entries, hasOlder, isLoadingOlder, isOlderRefused, onOlder, scrollRef, ...blocks } = props
  const { isAtEnd, hasNews, toEnd } = useStickiness(scrollRef, entries)
  const { shown, isMore, showMore } = useShown(entries, isAtEnd, scrollRef)
  const onTop = () => {
    if (isMore) showMore()
    else if (hasOlder) onOlder()
  }
  return (
    <div className="relative flex min-h-0 flex-1 flex-col">
      <div
        ref={scrollRef}
        // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by keys.
        tabIndex={0}
        role="region"
        aria-label="Conversation"
        className="scroller min-h-0 flex-1 [overflow-anchor:none]"
      >
        <div className="mx-auto flex w-full max-w-3xl flex-col gap-6 px-4 py-6 md:px-6">
          {(isMore || hasOlder) && (
            <Top
              onTop={onTop}
              isLoading={isLoadingOlder}
              isQuiet={isOlderRefused && !isMore}
              root={scrollRef}
              above={`${isMore} ${shown[0]?.key}`}
            />
          )}
          {shown.map((entry) => (
            <div key={entry.key} data-entry={entry.key} tabIndex={-1} className="scroll-my-6 outline-offset-8">
              <EntryBlock entry={entry} {...blocks} />
            </div>
          ))}
        </div>
      </div>
      {!isAtEnd && (
        <div className="pointer-events-none absolute inset-x-0 bottom-3 flex justify-center">
          <Button className="pointer-events-auto h-8 rounded-full shadow-raised" onClick={toEnd}>
            <ArrowDown size={14} aria-hidden /> {hasNews ? 'New messages' : 'To the end'}
          </Button>
        </div>
      )}
    </div>
  )
}

function EntryBlock({ entry, ...blocks }: BlockProps & { readonly entry: Entry }) {
  if (entry.kind === 'said') return <SaidBlock message={entry.message} />
  if (entry.kind === 'run') return <RunBlock entry={entry} {...blocks} />
  return <AsideBlock entry={entry} {...blocks} />
}

interface TopProps {
  readonly onTop: () => void
  readonly isLoading: boolean
  /** It waits until it is asked. */
  readonly isQuiet: boolean
  readonly root: RefObject<HTMLDivElement | null>
  /** Changes with what is above; if it is still in sight then, there is more to ask for. */
  readonly above: string
}

/** Asks for more when it comes into sight; and it is a button for whoever does not scroll. */
function Top({ onTop, isLoading, isQuiet, root, above }: TopProps) {
  const ref = useRef<HTMLDivElement>(null)
  const latest = useRef(onTop)
  useEffect(() => {
    latest.current = onTop
  })
  // biome-ignore lint/correctness/useExhaustiveDependencies: it is looked at anew whenever there is something else above.
  useEffect(() => {
    const element = ref.current
    if (!element || isLoading || isQuiet) return
    const options = { root: root.current, rootMargin: '300px 0px 0px 0px' }
    const observer = new IntersectionObserver(([seen]) => seen?.isIntersecting && latest.current(), options)
    observer.observe(element)
    return () => observer.disconnect()
  }, [root, isLoading, isQuiet, above])
  return (
    <div ref={ref} className="flex justify-center">
      <Button look="quiet" disabled={isLoading} onClick={onTop}>
        {isLoading && <LoaderCircle size={14} aria-hidden className="animate-spin" />}
        {isLoading ? 'Loading earlier messages' : 'Earlier messages'}
      </Button>
    </div>
  )
}

/** Which entries are laid out. While somebody reads further up, the first of them stays the first. */
function useShown(entries: readonly Entry[], isAtEnd: boolean, scrollRef: RefObject<HTMLDivElement | null>) {
  const [count, setCount] = useState(shownCountFirst)
  const [heldKey, setHeldKey] = useState<string>()
  const held = isAtEnd || heldKey === undefined ? -1 : entries.findIndex(({ key }) => key === heldKey)
  const from = Math.max(0, held === -1 ? entries.length - count : Math.min(held, entries.length - count))
  const firstKey = entries[from]?.key
  useEffect(() => {
    if (!isAtEnd && firstKey !== undefined) setHeldKey(firstKey)
    if (isAtEnd) setHeldKey(undefined)
  }, [isAtEnd, firstKey])
  useKeptPlace(scrollRef, firstKey)
  const showMore = () => {
    const next = entries[Math.max(0, from - shownCountFirst)]?.key
    setHeldKey(next)
    setCount(entries.length - Math.max(0, from - shownCountFirst))
  }
  return { shown: entries.slice(from), isMore: from > 0, showMore }
}

/** What is read stays where it is on the screen when something is put before it. */
function useKeptPlace(scrollRef: RefObject<HTMLDivElement | null>, firstKey: string | undefined): void {
  const before = useRef<{ readonly element: HTMLElement; readonly top: number }>(undefined)
  useLayoutEffect(() => {
    const scroller = scrollRef.current
    const last = before.current
    if (scroller && last?.element.isConnected) scroller.scrollTop += last.element.offsetTop - last.top
    const element =
      firstKey === undefined ? null : scroller?.querySelector<HTMLElement>(`[data-entry="${CSS.escape(firstKey)}"]`)
    before.current = element ? { element, top: element.offsetTop } : undefined
  })
}
