/** Why a task's signal fired. */
export type StopKind = 'cancel' | 'timeout' | 'handover' | 'lost' | 'failed'

const texts: Readonly<Record<StopKind, string>> = {
  cancel: 'The task was cancelled',
  timeout: 'The task ran out of time',
  handover: 'The task is handed over: another node, or the next start, goes on with it',
  lost: 'The task is no longer executed here',
  failed: 'The task has failed',
}

/** The reason of a fired signal. Named as the platform names it, so that code which knows AbortError knows it. */
export class StopError extends Error {
  override readonly name = 'AbortError'
  readonly reason: StopKind

  constructor(reason: StopKind) {
    super(texts[reason])
    this.reason = reason
  }
}

/** Waits for a promise, or until the signal fires, which rejects with its reason. Leaves no listener behind. */
export function unlessStopped<Value>(signal: AbortSignal, promise: Promise<Value>): Promise<Value> {
  return new Promise((resolve, reject) => {
    const stop = () => reject(signal.reason)
    if (signal.aborted) {
      // Nobody waits for it any more, so nobody would handle what it rejects with.
      promise.catch(() => {})
      return stop()
    }
    signal.addEventListener('abort', stop, { once: true })
    const after =
      <Settled>(settle: (settled: Settled) => void) =>
      (settled: Settled) => {
        signal.removeEventListener('abort', stop)
        settle(settled)
      }
    promise.then(after(resolve), after(reject))
  })
}
