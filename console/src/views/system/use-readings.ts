import { useClient } from 'holdfast/react'
import { useCallback, useEffect, useRef, useState } from 'react'
import { type Reading, readSystem } from './read-system.ts'

// Metrics are made to be read again and again, and there is no stream of them. This is the one view that does so, and only
// while somebody can see it.
const everyMs = 3000
// Two minutes of them, for what changes over time.
const readingsMax = 40

/** The last readings, the newest last. */
export function useReadings() {
  const client = useClient()
  const [readings, setReadings] = useState<readonly Reading[]>([])
  const [error, setError] = useState<unknown>()
  const reading = useRef<AbortController>(undefined)
  const read = useCallback(async () => {
    // One that takes long is waited for; another would only take as long.
    if (reading.current) return
    const leaving = new AbortController()
    reading.current = leaving
    const { signal } = leaving
    try {
      const next = await readSystem(client, signal)
      if (signal.aborted) return
      setReadings((before) => [...before, next].slice(-readingsMax))
      setError(undefined)
    } catch (failure) {
      if (!signal.aborted) setError(failure)
    } finally {
      if (reading.current === leaving) reading.current = undefined
    }
  }, [client])
  useEffect(() => {
    const look = () => {
      if (document.visibilityState === 'visible') void read()
    }
    look()
    const timer = setInterval(look, everyMs)
    document.addEventListener('visibilitychange', look)
    return () => {
      clearInterval(timer)
      document.removeEventListener('visibilitychange', look)
      reading.current?.abort()
      reading.current = undefined
    }
  }, [read])
  return { readings, error, retry: () => void read() }
}
