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
export async function unlessStopped<Value>(signal: AbortSignal, promise: Promise<Value>): Promise<Value> {
  signal.throwIfAborted()
  let stop: () => void = () => {}
  const stopped = new Promise<never>((_resolve, reject) => {
    stop = () => reject(signal.reason)
    signal.addEventListener('abort', stop, { once: true })
  })
  try {
    return await Promise.race([promise, stopped])
  } finally {
    signal.removeEventListener('abort', stop)
  }
}
