import { useEffect, useState } from 'react'

// What comes sooner than this needs no sign that it is coming; a sign would only flicker.
const delayMs = 150

/** Stands where rows will be, after a moment. */
export function Skeleton({ rows = 8 }: { readonly rows?: number }) {
  const isLate = useLater(delayMs)
  if (!isLate) return <div className="flex-1" />
  return (
    <div role="status" aria-label="Loading" className="flex flex-1 flex-col gap-4 p-4 md:p-6">
      {Array.from({ length: rows }, (_, row) => (
        <div
          // biome-ignore lint/suspicious/noArrayIndexKey: these rows are all alike and never move.
          key={row}
          className="h-5 animate-wait rounded-sm bg-sunken"
          style={{ width: `${92 - ((row * 17) % 40)}%` }}
        />
      ))}
    </div>
  )
}

/** True once this has been on the screen for so long. */
export function useLater(ms: number): boolean {
  const [isLater, setLater] = useState(false)
  useEffect(() => {
    const timer = setTimeout(() => setLater(true), ms)
    return () => clearTimeout(timer)
  }, [ms])
  return isLater
}
