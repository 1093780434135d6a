import { useSyncExternalStore } from 'react'

/** The thread that is shown stands in the address, so that it can be shared, bookmarked and reloaded. */
export function useHash(): string {
  return useSyncExternalStore(subscribe, () => decodeURIComponent(location.hash.slice(1)))
}

function subscribe(onChange: () => void): () => void {
  addEventListener('hashchange', onChange)
  return () => removeEventListener('hashchange', onChange)
}
