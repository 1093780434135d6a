import type { Verdict } from '../core/unit.ts'
import type { Item } from './batch.ts'
import type { Entry } from './entry.ts'
import { type Lanes, turnBytes } from './lanes.ts'

/**
 * Whether a batch was nothing but emits, all of them committed, and what waits is nothing but emits too: enough of them for a batch
 * that is worth its commit.
 */
export function isFlood(lanes: Lanes<Entry>, items: readonly Item[], verdicts: readonly Verdict[]): boolean {
  if (lanes.bytes < turnBytes || items.length === 0) return false
  for (const { entry } of items) if (entry.kind !== 'emit') return false
  for (const { committed } of verdicts) if (!committed) return false
  for (const entry of lanes.entries()) if (entry.kind !== 'emit') return false
  return true
}
