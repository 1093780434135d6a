/** Resolves after a moment of real time, for what waits on a network: no promise of Holdfast depends on how long it is. */
export function pause(ms: number, signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve()
  return new Promise((resolve) => {
    const end = () => {
      clearTimeout(timer)
      signal.removeEventListener('abort', end)
      resolve()
    }
    const timer = setTimeout(end, ms)
    signal.addEventListener('abort', end)
  })
}

/** Calls once, after so much real time, unless what it returns was called before. */
export function afterMs(ms: number, call: () => void): () => void {
  const timer = setTimeout(call, ms)
  return () => clearTimeout(timer)
}

/**
 * The server's clock as it is known here.
 *
 * K1 An answer tells an instant that was before it arrived, so the clock is at least that far: it is put forward at once, and
 *    put back only little by little, because a late answer looks like a clock that was put back.
 * K2 It never goes back.
 */
export class ServerClock {
  #aheadMs = Number.NEGATIVE_INFINITY
  #last = 0

  /** Takes what the server said its clock was. */
  heard(serverAt: number): void {
    const aheadMs = serverAt - performance.now()
    this.#aheadMs = Math.max(aheadMs, this.#aheadMs - 1)
  }

  now(): number {
    this.#last = Math.max(this.#last, Math.floor(performance.now() + Math.max(0, this.#aheadMs)))
    return this.#last
  }
}
