import type { Watch, Watcher } from './watch.ts'

/** Resolves when the signal fires; rejects if the threads cannot be watched. */
export async function whileWatching(
  watch: Watch,
  signal: AbortSignal,
  watcher: Omit<Watcher, 'failed'>,
): Promise<void> {
  const over = Promise.withResolvers<void>()
  const stop = (): void => over.resolve()
  signal.addEventListener('abort', stop, { once: true })
  const leave = watch.join({ ...watcher, failed: over.reject })
  try {
    await over.promise
  } finally {
    signal.removeEventListener('abort', stop)
    leave()
  }
}
