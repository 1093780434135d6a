import type { Virtualizer } from '@tanstack/react-virtual'
import type { ThreadEvent } from 'holdfast/client'
import type { RefObject, UIEvent } from 'react'
import { EventRow } from './event-row.tsx'

interface EventLogProps {
  readonly events: readonly ThreadEvent[]
  readonly virtual: Virtualizer<HTMLDivElement, Element>
  readonly scrollerRef: RefObject<HTMLDivElement | null>
  readonly onScroll: (event: UIEvent<HTMLElement>) => void
  readonly open: ReadonlySet<number>
  readonly cursor: number | undefined
  readonly abandoned: ReadonlySet<number>
  readonly hasTask: boolean
  readonly onToggle: (seq: number) => void
}

/** The lines of a log, of which only those in sight are on the page. */
export function EventLog({
  events,
  virtual,
  scrollerRef,
  onScroll,
  open,
  cursor,
  abandoned,
  hasTask,
  onToggle,
}: EventLogProps) {
  return (
    <div
      ref={scrollerRef}
      role="log"
      aria-label="Events"
      aria-live="off"
      // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by keys.
      tabIndex={0}
      onScroll={onScroll}
      className="scroller min-h-0 flex-1 outline-offset-[-2px]"
    >
      <div className="relative" style={{ height: virtual.getTotalSize() }}>
        {virtual.getVirtualItems().map(({ index, start, key }) => {
          const event = events[index]
          if (!event) return null
          const { seq } = event
          return (
            <div
              key={key}
              data-index={index}
              ref={virtual.measureElement}
              className="absolute inset-x-0 top-0"
              style={{ transform: `translateY(${start}px)` }}
            >
              <EventRow
                event={event}
                isOpen={open.has(seq)}
                isCursor={cursor === seq}
                isAbandoned={abandoned.has(seq)}
                hasTask={hasTask}
                onToggle={onToggle}
              />
            </div>
          )
        })}
      </div>
    </div>
  )
}
