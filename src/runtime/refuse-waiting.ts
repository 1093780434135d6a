import { HoldfastError } from '../core/errors.ts'
import type { ThreadKey } from '../core/id.ts'
import { type ChangeEntry, type Entry, isIntent } from './entry.ts'
import type { Lanes } from './lanes.ts'
import { unavailable } from './unavailable.ts'

/** All that callers asked for: they can ask again. */
export function refuseIntents(lanes: Lanes<Entry>, error: unknown): void {
  for (const intent of lanes.takeAll(isIntent)) intent.reject(unavailable(error))
}

/** What callers asked of these threads: they are not left without an answer for as long as the threads rest. */
export function refuseIntentsIn(lanes: Lanes<Entry>, resting: ReadonlyMap<ThreadKey, unknown>): void {
  const isAsked = (entry: Entry): entry is ChangeEntry => isIntent(entry) && resting.has(entry.change.thread)
  for (const intent of lanes.takeAll(isAsked)) intent.reject(unavailable(resting.get(intent.change.thread)))
}

/** All that somebody waits for, because nothing is written any more. */
export function refuseAll(lanes: Lanes<Entry>): void {
  const closed = new HoldfastError('draining', 'The runtime was closed while the store was down')
  for (const entry of lanes.takeAll((waiting) => waiting.kind !== 'emit')) entry.reject(closed)
}
