import type { ThreadKey } from '../core/id.ts'
import type { Verdict } from '../core/unit.ts'
import type { Store } from '../stores/store.ts'
import type { Batch, BatchFilter } from './batch.ts'
import { type Entry, keyOf } from './entry.ts'
import { type Lanes, turnBytes } from './lanes.ts'
import type { Threads } from './threads.ts'

/** A batch that was committed whole, of which nobody was told yet. */
export interface Untold {
  tell(): void
  /** In these nothing is decided until it is told (W6). */
  readonly changed: ReadonlySet<ThreadKey>
}

// Fewer cost more by a commit of their own than they gain by not waiting.
const changesMin = 24

/**
 * The threads that a batch has changed, if the next one is to go on its way before it is told: it was committed whole, nothing has
 * to be read or fetched first, and enough waits that needs to know nothing of it. Else undefined. Enough are emits for a turn where
 * nothing else waits nor was committed, or `changesMin` changes in other threads that are known. Those only where nodes share the
 * store: it commits on a server of its own, while this process has nothing to do, and on the cores of this machine two smaller
 * commits cost more than one (docs/decisions/0029-the-next-batch-before-the-last-is-told.md).
 */
export function changedIfFollowed(
  { store: { isShared }, threads }: { readonly store: Pick<Store, 'isShared'>; readonly threads: Pick<Threads, 'has'> },
  lanes: Lanes<Entry>,
  { items, missing, idsWanted }: Batch,
  verdicts: readonly Verdict[],
): ReadonlySet<ThreadKey> | undefined {
  let isFlood = lanes.bytes >= turnBytes
  if (!isFlood && !isShared) return undefined
  if (items.length === 0 || missing.size > 0 || idsWanted > 0) return undefined
  for (const { committed } of verdicts) if (!committed) return undefined
  const changed = new Set<ThreadKey>()
  for (const { entry } of items) {
    if (entry.kind === 'change') changed.add(entry.change.thread)
    if (entry.kind !== 'emit') isFlood = false
  }
  let changeCount = 0
  for (const entry of lanes.entries()) {
    if (entry.kind !== 'emit') isFlood = false
    if (entry.kind === 'change' && !changed.has(entry.change.thread) && threads.has(entry.change.thread))
      changeCount += 1
  }
  return isFlood || (isShared && changeCount >= changesMin) ? changed : undefined
}

/** Leaves what is to be decided in these threads for a later batch; what executions write there needs no decision. */
export function sparing(changed: ReadonlySet<ThreadKey>, filter: BatchFilter): BatchFilter {
  const isSpared = (entry: Entry) => entry.kind === 'change' && changed.has(keyOf(entry))
  return { allows: (entry) => !isSpared(entry) && filter.allows(entry), isLocked: (thread) => filter.isLocked(thread) }
}
