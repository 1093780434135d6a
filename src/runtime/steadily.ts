import { type Clock, expiry, type Timer } from './clock.ts'

const lookCount = 4
const lookMs = 250

/** Resolves when several looks in a row, for a second, have found it so. Whoever stops waiting cancels it. */
export function whenSteadily(clock: Clock, isSo: () => boolean): Timer & { readonly seen: Promise<void> } {
  let look = expiry(clock, lookMs)
  const watch = async (): Promise<void> => {
    for (let count = 0; count < lookCount; ) {
      await look.expired
      count = isSo() ? count + 1 : 0
      if (count < lookCount) look = expiry(clock, lookMs)
    }
  }
  return { seen: watch(), cancel: () => look.cancel() }
}
