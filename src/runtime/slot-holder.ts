import type { StepScope } from './ambient.ts'
import type { Slots } from './slots.ts'

// One for all: many tasks wait at once, and each keeps its holder.
const noop = () => {}

/**
 * The slot of one execution: held while its code runs, given back while it only waits.
 *
 * It only waits when something in `ctx` is waited for and every open step is waiting inside as well. Code between
 * steps that waits for something of its own cannot be seen, and keeps the slot only while no `ctx` wait is under way.
 */
export class SlotHolder {
  readonly #slots: Slots
  readonly #agent: string | undefined
  readonly #onRest: () => void
  /** Those whose function is under way; most tasks that wait have none. */
  #steps: Set<StepScope> | undefined
  #waitCount = 0
  #isHeld = true
  #isClosed = false
  #isStopped = false
  #taking: Promise<void> | undefined
  /** Lets what waits for the slot go on without it. */
  #goOn: (() => void) | undefined

  /** `agent` is whose place goes with the slot; `onRest` is called whenever it is given back because everything waits. */
  constructor(slots: Slots, agent?: string, onRest: () => void = noop) {
    this.#slots = slots
    this.#agent = agent
    this.#onRest = onRest
  }

  /** Its task only waits, and for no slot. Of a step that waits inside nobody can tell what else it does. */
  get isResting(): boolean {
    return !this.#isHeld && this.#taking === undefined && (this.#steps?.size ?? 0) === 0
  }

  /** A step's function is about to run. If the slot was given back meanwhile, it waits for one. */
  enter(step: StepScope, outer: StepScope | undefined): Promise<void> | undefined {
    if (outer) outer.insideCount += 1
    this.#steps ??= new Set()
    this.#steps.add(step)
    return this.#isHeld ? undefined : this.#hold()
  }

  leave(step: StepScope, outer: StepScope | undefined): void {
    if (outer) outer.insideCount -= 1
    this.#steps?.delete(step)
    this.#giveIfWaiting()
  }

  /** Waits without holding a slot, and has one again before it returns or throws, unless all else still waits. */
  async wait<Value>(step: StepScope | undefined, promise: Promise<Value>): Promise<Value> {
    this.#waitCount += 1
    if (step) step.insideCount += 1
    this.#giveIfWaiting()
    try {
      return await promise
    } finally {
      this.#waitCount -= 1
      if (step) step.insideCount -= 1
      if (!this.#onlyWaits) await this.#hold()
    }
  }

  /** Its task is to stop. What is left of its code has the grace time for that, and so waits for no slot. */
  stop(): void {
    this.#isStopped = true
    this.#goOn?.()
  }

  close(): void {
    this.#isClosed = true
    if (!this.#isHeld) return
    this.#isHeld = false
    this.#slots.give(this.#agent)
  }

  get #onlyWaits(): boolean {
    if (this.#waitCount === 0) return false
    for (const step of this.#steps ?? []) if (step.insideCount === 0) return false
    return true
  }

  #giveIfWaiting(): void {
    if (!this.#isHeld || !this.#onlyWaits) return
    this.#isHeld = false
    this.#slots.give(this.#agent)
    this.#onRest()
  }

  #hold(): Promise<void> {
    if (this.#isHeld || this.#isClosed || this.#isStopped) return Promise.resolve()
    this.#taking ??= this.#take()
    return this.#taking
  }

  #take(): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#goOn = resolve
    void this.#slots.take(this.#agent).then(() => {
      this.#taking = undefined
      this.#goOn = undefined
      if (this.#isClosed || this.#isStopped) this.#slots.give(this.#agent)
      else this.#isHeld = true
      // What it was taken for may itself be waiting by now.
      this.#giveIfWaiting()
      resolve()
    })
    return promise
  }
}
