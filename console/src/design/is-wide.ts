import { useSyncExternalStore } from 'react'

// The same width as that of `md:`, which is more room than on a phone.
const wide = matchMedia('(min-width: 48rem)')

/** Whether there is more room than on a phone. */
export function useIsWide(): boolean {
  return useSyncExternalStore(subscribe, () => wide.matches)
}

function subscribe(listener: () => void): () => void {
  wide.addEventListener('change', listener)
  return () => wide.removeEventListener('change', listener)
}
