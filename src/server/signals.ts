const signals = ['SIGTERM', 'SIGINT'] as const

/**
 * Drains on the first signal, which `onDraining` is told of, and ends the process after it; a second one ends it at once, which is
 * as safe as a crash. Returns what stops listening.
 */
export function drainOnSignal(drain: () => Promise<void>, onDraining: () => void): () => void {
  let isDraining = false
  const onSignal = (): void => {
    if (isDraining) process.exit(1)
    isDraining = true
    onDraining()
    drain().then(
      () => process.exit(0),
      () => process.exit(1),
    )
  }
  for (const signal of signals) process.on(signal, onSignal)
  return () => {
    for (const signal of signals) process.off(signal, onSignal)
  }
}
