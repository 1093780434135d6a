import type { ThreadEvent } from '../thread-event.ts'

/** The last events of a log, so many at most. */
export interface EventWindow {
  readonly events: readonly ThreadEvent[]
  /** The number up to which the log was read. */
  readonly head: number
  /** How many events before these were let go or passed over, or are no longer kept by the server. */
  readonly letGo: number
}

export function emptyWindow(after: number, letGo: number): EventWindow {
  return { events: [], head: after, letGo }
}

/** With what follows, in order. Numbers that it has are passed over. */
export function withEvents(window: EventWindow, events: readonly ThreadEvent[], countMax: number): EventWindow {
  const last = window.events.at(-1)?.seq ?? 0
  const fresh = events.filter(({ seq }) => seq > last)
  if (fresh.length === 0) return window
  const all = [...window.events, ...fresh]
  const tooMany = Math.max(0, all.length - countMax)
  return {
    events: tooMany > 0 ? all.slice(tooMany) : all,
    head: Math.max(window.head, fresh.at(-1)?.seq ?? 0),
    letGo: window.letGo + tooMany,
  }
}

/** Read up to here, whatever of it was asked for. */
export function readTo(window: EventWindow, head: number): EventWindow {
  return head > window.head ? { ...window, head } : window
}
