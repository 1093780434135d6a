import { type EventData, isEmitted, type Range, type StoredEvent } from './event.ts'
import type { JsonText } from './id.ts'
import type { StepRecord } from './step.ts'

/**
 * What of the earlier attempts counts when a task goes on.
 *
 * R1 What was emitted inside a step counts if, and only if, that step is recorded: the step answers from its record
 *    and emits nothing, or it runs again and emits it all anew. The innermost step decides.
 * R2 What was emitted outside every step counts if it was committed before the last recorded step.
 * R3 What an earlier resume abandoned stays abandoned, whatever has been recorded since.
 */
export interface ResumePlan {
  /** The number of the last emit that counts, else of the start. */
  readonly keep: number
  /** Where emits below `keep` do not count. A range may span numbers of other tasks: it speaks of this one's. */
  readonly dropped: readonly Range[]
  /** The emits that count, in order. */
  readonly counted: readonly StoredEvent[]
  /** Those of them that code outside every step will make again. */
  readonly bag: EmitBag
}

/** Plans the next attempt of a task from its events of all earlier ones, in order, and the steps it has recorded. */
export function planResume(
  startedSeq: number,
  events: readonly StoredEvent[],
  steps: readonly StepRecord[],
): ResumePlan {
  const recorded = new Set(steps.map((step) => step.key))
  const lastStepSeq = steps.reduce((last, step) => Math.max(last, step.seq), 0)
  const counts = (emit: StoredEvent) => (emit.step === undefined ? emit.seq <= lastStepSeq : recorded.has(emit.step))
  const counted = standing(events).filter((event) => isEmitted(event) && counts(event))
  return {
    keep: counted.at(-1)?.seq ?? startedSeq,
    dropped: rangesBetween(events, counted),
    counted,
    bag: new EmitBag(counted.filter((emit) => emit.step === undefined)),
  }
}

/** The stretches of emits that do not count and have one that counts after them. */
function rangesBetween(events: readonly StoredEvent[], counted: readonly StoredEvent[]): Range[] {
  const ranges: Range[] = []
  const counting = new Set(counted.map((emit) => emit.seq))
  let open: Range | undefined
  for (const event of events) {
    if (!isEmitted(event)) continue
    if (!counting.has(event.seq)) {
      open = [open?.[0] ?? event.seq, event.seq]
      continue
    }
    if (open) ranges.push(open)
    open = undefined
  }
  return ranges
}

/**
 * The events of one task that stand, in order: each `task.resumed` abandons the emits before it that are after its
 * `keep` or within its `dropped`. What the runtime wrote about the task stands always.
 */
export function standing(events: Iterable<StoredEvent>): StoredEvent[] {
  let kept: StoredEvent[] = []
  for (const event of events) {
    if (event.type === 'task.resumed') kept = withoutAbandoned(kept, event)
    kept.push(event)
  }
  return kept
}

function withoutAbandoned(events: readonly StoredEvent[], resumed: StoredEvent): StoredEvent[] {
  const { keep, dropped = [] } = JSON.parse(resumed.data) as EventData['task.resumed']
  const ranges = dropped.toSorted((a, b) => a[0] - b[0])
  let next = 0
  return events.filter((event) => {
    if (!isEmitted(event)) return true
    if (event.seq > keep) return false
    while ((ranges[next]?.[1] ?? Number.POSITIVE_INFINITY) < event.seq) next += 1
    return (ranges[next]?.[0] ?? Number.POSITIVE_INFINITY) > event.seq
  })
}

/**
 * Emits that count already and will be made again by code outside every step. An equal one is taken out and stays
 * silent, in whatever order parallel branches come to theirs.
 */
export class EmitBag {
  readonly #counts = new Map<string, number>()

  constructor(emits: Iterable<{ readonly type: string; readonly data: JsonText }> = []) {
    for (const { type, data } of emits) {
      const key = bagKey(type, data)
      this.#counts.set(key, (this.#counts.get(key) ?? 0) + 1)
    }
  }

  /** Takes one equal emit out. False if there is none: then this one is new. */
  take(type: string, data: JsonText): boolean {
    // Nearly always: the bag of a first attempt is empty, and so is one that was emptied.
    if (this.#counts.size === 0) return false
    const key = bagKey(type, data)
    const count = this.#counts.get(key)
    if (count === undefined) return false
    if (count === 1) this.#counts.delete(key)
    else this.#counts.set(key, count - 1)
    return true
  }
}

// A type holds no space, so the first one parts it from the data.
function bagKey(type: string, data: JsonText): string {
  return `${type} ${data}`
}
