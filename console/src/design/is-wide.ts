import { useCallback, useSyncExternalStore } from 'react'

// The same widths as those of `md:`, which is more room than on a phone, and of `lg:`, which is more than on a tablet.
const widths = { md: matchMedia('(min-width: 48rem)'), lg: matchMedia('(min-width: 64rem)') } as const

/** Whether there is so much room. */
export function useIsWide(from: keyof typeof widths = 'md'): boolean {
  const wide = widths[from]
  const subscribe = useCallback(
    (listener: () => void) => {
      wide.addEventListener('change', listener)
      return () => wide.removeEventListener('change', listener)
    },
    [wide],
  )
  return useSyncExternalStore(subscribe, () => wide.matches)
}
