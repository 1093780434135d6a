const mark = Symbol.for('holdfast.stray-rejections')

type Listener = ((reason: unknown) => void) & { [mark]?: true }

/**
 * Hears of rejections that nobody handles. One that comes from a task's code is that task's failure; any other is left to
 * the process as if nobody listened here, which by Node's default ends it. Returns a function that stops listening.
 */
export function onStrayRejection(claim: (reason: unknown) => boolean): () => void {
  const listener: Listener = (reason) => {
    if (claim(reason)) return
    const listeners = process.listeners('unhandledRejection') as Listener[]
    const isOurs = listeners.every((other) => other[mark])
    // With several runtimes the last one to hear of it speaks, after each could claim it.
    if (isOurs && listeners.at(-1) === listener) throw reason
  }
  listener[mark] = true
  process.on('unhandledRejection', listener)
  return () => process.off('unhandledRejection', listener)
}
