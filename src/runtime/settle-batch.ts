import { HoldfastError } from '../core/errors.ts'
import type { ThreadKey } from '../core/id.ts'
import type { Committed, Refusal, Unit, Verdict } from '../core/unit.ts'
import type { Store } from '../stores/store.ts'
import type { BatchSurroundings, Item } from './batch.ts'
import type { Author, Entry } from './entry.ts'
import type { Logger } from './logger.ts'
import type { Threads } from './threads.ts'

export interface SettleParts {
  readonly threads: Threads
  readonly around: Pick<BatchSurroundings, 'giveBack'>
  /** Called for each committed unit, in order, before anyone is answered. */
  onCommitted(unit: Unit, verdict: Committed): void
}

interface GivingUpParts {
  readonly store: Pick<Store, 'isShared'>
  readonly log: Logger
}

/**
 * Does what the verdicts of a batch say, in its order: what is committed is published, then answered; what is refused for
 * good is told so. Returns what was refused for a passing reason, which is to be tried again.
 */
export function settleBatch(parts: SettleParts, items: readonly Item[], verdicts: readonly Verdict[]): Entry[] {
  const again: Entry[] = []
  // What was decided in these threads after the refusal was decided from something that is not so.
  const refused = new Set<ThreadKey>()
  let next = 0
  for (const item of items) {
    const verdict = item.unit ? verdicts[next++] : undefined
    if (!item.unit || !verdict) {
      if (item.entry.kind === 'change' && refused.has(item.entry.change.thread)) again.push(item.entry)
      else answer(item)
    } else if (verdict.committed) {
      publish(parts, item.unit, verdict)
      answer(item, verdict)
    } else {
      parts.around.giveBack(item.taken)
      parts.threads.discard(item.unit.thread)
      if (item.unit.rev !== undefined) refused.add(item.unit.thread)
      if (isPassing(verdict.reason)) again.push(item.entry)
      else refuse(item.entry, verdict.reason)
    }
  }
  return again
}

/** Nothing of a batch is written: what its decisions took is given back, and what they were made from is read again. */
export function withdraw(
  parts: Omit<SettleParts, 'onCommitted'>,
  items: readonly Item[],
  areIdsSpent: boolean,
): Unit[] {
  for (const item of items) parts.around.giveBack({ ...item.taken, areIdsSpent })
  const units = items.flatMap((item) => item.unit ?? [])
  for (const unit of units) parts.threads.discard(unit.thread)
  return units
}

/** The store cannot take what stands alone. False if it is to be tried once more, with ids that no other node has used. */
export function giveUp({ store, log }: GivingUpParts, { entry, taken }: Item, error: unknown): boolean {
  if (entry.kind === 'change' && taken.ids.length > 0 && store.isShared && !entry.hasSpentIds) {
    log.warn({ err: error, ids: taken.ids }, 'the store refused a new task; it gets another id')
    entry.hasSpentIds = true
    return false
  }
  log.error({ err: error, entry: entry.kind }, 'the store cannot take a unit')
  if (entry.kind !== 'emit') entry.reject(error)
  if (entry.kind !== 'change') entry.author.unstorable(error, entry.events)
  return true
}

function publish({ threads, onCommitted }: SettleParts, unit: Unit, verdict: Committed): void {
  if (unit.rev !== undefined) threads.get(unit.thread)?.stamp(unit, verdict)
  onCommitted(unit, verdict)
}

function answer({ entry, unit, value, thrown }: Item, verdict?: Committed): void {
  if (thrown && entry.kind === 'change') return entry.reject(thrown.error)
  if (entry.kind === 'change') return entry.resolve({ value, ...(unit && { unit }), ...(verdict && { verdict }) })
  entry.author.flushed(entry.kind === 'step' ? entry.emittedBytes : entry.bytes)
  if (entry.kind === 'step') entry.resolve()
}

/** Decided again, from what is so by now, it may well be committed. */
function isPassing({ code }: Refusal): boolean {
  return code === 'stale' || code === 'after_refused'
}

function refuse(entry: Entry, refusal: Refusal): void {
  if (entry.kind === 'change') return entry.resolve({ refusal })
  entry.author.fenced()
  if (entry.kind === 'step') entry.reject(fencedError(entry.author))
}

function fencedError(author: Author): HoldfastError {
  return new HoldfastError('task_terminated', `${author.task} is no longer executed here under epoch ${author.epoch}`)
}
