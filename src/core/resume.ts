import { isEmitted, type Range, type StoredEvent } from './event.ts'
import type { JsonText } from './id.ts'
import type { Stands } from './standing.ts'
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
  /** The emits that count and that code outside every step will make again. */
  readonly bag: EmitBag
}

/**
 * Plans the next attempt of a task from its events of all earlier ones, given in order, what of them stands after its
 * earlier resumes, and the steps it has recorded. Keeps none of the events.
 */
export class ResumePlanning {
  readonly #stands: Stands
  readonly #recorded: ReadonlySet<string>
  readonly #lastStepSeq: number
  readonly #dropped: Range[] = []
  readonly #bag = new EmitBag()
  #keep: number
  /** The stretch of emits that do not count which the next one that counts will close. */
  #open: Range | undefined

  constructor(startedSeq: number, steps: readonly StepRecord[], stands: Stands) {
    this.#keep = startedSeq
    this.#recorded = new Set(steps.map((step) => step.key))
    this.#lastStepSeq = steps.reduce((last, step) => Math.max(last, step.seq), 0)
    this.#stands = stands
  }

  /** Takes the next event of the task. Says whether it is an emit that counts. */
  add(event: StoredEvent): boolean {
    if (!isEmitted(event)) return false
    const { seq } = event
    if (!this.#counts(event)) {
      this.#open = [this.#open?.[0] ?? seq, seq]
      return false
    }
    if (this.#open) this.#dropped.push(this.#open)
    this.#open = undefined
    this.#keep = seq
    if (event.step === undefined) this.#bag.put(event)
    return true
  }

  get plan(): ResumePlan {
    return { keep: this.#keep, dropped: this.#dropped, bag: this.#bag }
  }

  #counts(emit: StoredEvent): boolean {
    if (!this.#stands(emit)) return false
    return emit.step === undefined ? emit.seq <= this.#lastStepSeq : this.#recorded.has(emit.step)
  }
}

/**
 * Emits that count already and will be made again by code outside every step. An equal one is taken out and stays
 * silent, in whatever order parallel branches come to theirs.
 */
export class EmitBag {
  readonly #counts = new Map<string, number>()

  constructor(emits: Iterable<{ readonly type: string; readonly data: JsonText }> = []) {
    for (const emit of emits) this.put(emit)
  }

  put({ type, data }: { readonly type: string; readonly data: JsonText }): void {
    const key = bagKey(type, data)
    this.#counts.set(key, (this.#counts.get(key) ?? 0) + 1)
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

// A type holds no space, so the first one parts it from the data. To join makes a text of its own, where to concatenate would keep
// alive the page that the data was cut out of.
function bagKey(type: string, data: JsonText): string {
  return [type, data].join(' ')
}
