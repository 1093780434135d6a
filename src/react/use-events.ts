import { useMemo } from 'react'
import type { EventFilter, EventListValue } from '../client/live/event-list.ts'
import { useModels } from './provider.ts'
import { useLive, useSame } from './use-live.ts'

/** The events of a thread, as far as they are held. */
export interface UseEventsResult extends EventListValue {
  /** Reads again, after an error. */
  retry(): void
}

/** The log of a thread as it grows: its last 10,000 events, or those of a task or of some types. */
export function useEvents(thread: string, options: EventFilter = {}): UseEventsResult {
  const models = useModels()
  const filter = useSame(options)
  const handle = useMemo(() => models.eventList(thread, filter), [models, thread, filter])
  const value = useLive(handle)
  return useMemo(() => ({ ...value, retry: () => handle.current?.live.retry() }), [value, handle])
}
