import { useCallback, useMemo, useSyncExternalStore } from 'react'
import type { ConnectionState } from '../client/index.ts'
import { useClient } from './provider.ts'

/** Whether the server is heard. */
export interface ConnectionStatus {
  readonly state: ConnectionState['state']
  /** How long the client waits, from `at` on, before it tries again; 0 while a try is under way. */
  readonly retryInMs?: number
  /** Since when it is so, by the clock of the page; absent where nothing was tried yet. */
  readonly at?: number
}

// Where the page is rendered nobody can know, and where it is taken over a connection is about to be made.
const connecting: ConnectionStatus = { state: 'reconnecting', retryInMs: 0 }

/** Whether the server is heard, for what shows it. */
export function useConnection(): ConnectionStatus {
  const { connection } = useClient()
  const subscribe = useCallback((onChange: () => void) => connection.subscribe(onChange), [connection])
  const state = useSyncExternalStore<ConnectionState | undefined>(
    subscribe,
    () => connection.snapshot(),
    () => undefined,
  )
  return useMemo(() => (state ? statusOf(state) : connecting), [state])
}

function statusOf(state: ConnectionState): ConnectionStatus {
  const { since: at } = state
  return state.state === 'reconnecting'
    ? { state: state.state, retryInMs: state.retryInMs, at }
    : { state: state.state, at }
}
