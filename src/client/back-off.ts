// Soon enough that a restart of the server is hardly noticed.
const delayMsMin = 250
// Long enough that a server which comes back is not met by all of its clients at once, again and again.
const delayMsMax = 15_000

/**
 * How long to wait after so many failures in a row: twice as long each time, up to a limit. Half of it is left to chance,
 * `random` from 0 to 1, so that clients which were cut off together do not come back together. A server that says how
 * long it wants to be left alone is believed.
 */
export function backOffMs(failures: number, random: number, retryAfterMs = 0): number {
  const ms = Math.min(delayMsMax, delayMsMin * 2 ** (failures - 1))
  return Math.max(retryAfterMs, Math.round(ms / 2 + (random * ms) / 2))
}
