import { useMemo, useSyncExternalStore } from 'react'
import type { Handle } from '../client/live/shared.ts'

/** The value of a live model. On a server, and while its page is taken over, what was known before anything was heard. */
export function useLive<Value>(handle: Handle<Value, unknown>): Value {
  return useSyncExternalStore(handle.subscribe, handle.get, () => handle.initial)
}

/** The same object for as long as it reads the same: one that is written into a call is new at every render. */
export function useSame<Value extends object>(given: Value): Value {
  const text = JSON.stringify(given)
  return useMemo(() => JSON.parse(text) as Value, [text])
}
