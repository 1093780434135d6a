/** Where the client gets its time from. */
export interface ClientClock {
  /** Milliseconds since the epoch. */
  now(): number
  /** Calls `fire` once, `afterMs` from now, never before this call returns. */
  setTimer(afterMs: number, fire: () => void): { cancel(): void }
}

/** The clock of the machine, in a browser or in Node. */
export const systemClock: ClientClock = {
  now: () => Date.now(),
  setTimer(afterMs, fire) {
    const timer = setTimeout(fire, afterMs)
    return { cancel: () => clearTimeout(timer) }
  },
}

/** Resolves after so long; rejects with the signal's reason if that fires first. */
export function pause(clock: ClientClock, ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const abort = () => {
      timer.cancel()
      reject(signal?.reason as Error)
    }
    const timer = clock.setTimer(ms, () => {
      signal?.removeEventListener('abort', abort)
      resolve()
    })
    if (signal?.aborted) abort()
    else signal?.addEventListener('abort', abort, { once: true })
  })
}
