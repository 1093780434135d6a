import type { Decision } from '../core/decision.ts'
import { HoldfastError } from '../core/errors.ts'
import { isTerminalEvent } from '../core/event.ts'
import { type Principal, principalOf } from '../core/id.ts'
import type { Unit } from '../core/unit.ts'

/** How many tasks units open, and how many they end. */
interface Change {
  readonly openCount: number
  readonly endCount: number
}

const unchanged: Change = { openCount: 0, endCount: 0 }

/**
 * How many tasks of each principal have not ended: as the store counted them, carried forward by what this node decides.
 *
 * N1 A unit counts from its decision on, so that the next decision of its batch sees it; one that is not committed
 *    counts no more.
 * N2 A count of the store may have seen what this node was writing meanwhile, or not. It is believed only as far as that
 *    cannot explain the difference, so the numbers of a node that is alone stay exact under any load.
 */
export class OpenTasks {
  readonly #max: number
  readonly #open = new Map<Principal, number>()
  /** Units that are decided and neither committed nor withdrawn. */
  readonly #underWay = new Set<Unit>()
  /** What the count that is under way may have seen or not. */
  #unsure: Map<Principal, Change> | undefined

  constructor(max: number) {
    this.#max = max
  }

  /** Refuses a decision that would leave its principal with more open tasks than it may have. */
  admit<Value>(decision: Decision<Value>): Decision<Value> {
    const { unit } = decision
    if (!unit) return decision
    const { openCount, endCount } = changeOf(unit)
    const before = this.#open.get(principalOf(unit.thread)) ?? 0
    if (openCount <= endCount || before + openCount - endCount <= this.#max) return decision
    throw new HoldfastError(
      'limit_reached',
      `${before} tasks of this principal have not ended, the most there may be is ${this.#max} ` +
        '(openTasksPerPrincipal); wait for one to end',
      { facts: { limit: 'openTasksPerPrincipal', max: this.#max, retryAfterMs: 1000 } },
    )
  }

  /** N1. */
  decided(unit: Unit): void {
    const change = changeOf(unit)
    if (change === unchanged) return
    const principal = principalOf(unit.thread)
    this.#add(principal, change.openCount - change.endCount)
    this.#underWay.add(unit)
    if (this.#unsure) note(this.#unsure, principal, change)
  }

  committed(unit: Unit): void {
    this.#underWay.delete(unit)
  }

  withdrawn(unit: Unit): void {
    if (!this.#underWay.delete(unit)) return
    const { openCount, endCount } = changeOf(unit)
    this.#add(principalOf(unit.thread), endCount - openCount)
  }

  /** N2. Called right before the store is asked; what it returns is called with the answer. */
  counting(): (counted: ReadonlyMap<Principal, number>) => void {
    const unsure = new Map<Principal, Change>()
    for (const unit of this.#underWay) note(unsure, principalOf(unit.thread), changeOf(unit))
    this.#unsure = unsure
    return (counted) => {
      this.#unsure = undefined
      for (const principal of new Set([...counted.keys(), ...this.#open.keys()])) {
        const own = this.#open.get(principal) ?? 0
        const theirs = counted.get(principal) ?? 0
        const { openCount, endCount } = unsure.get(principal) ?? unchanged
        if (theirs < own - openCount || theirs > own + endCount) this.#set(principal, theirs)
      }
    }
  }

  #add(principal: Principal, count: number): void {
    this.#set(principal, (this.#open.get(principal) ?? 0) + count)
  }

  #set(principal: Principal, count: number): void {
    if (count === 0) this.#open.delete(principal)
    else this.#open.set(principal, count)
  }
}

function changeOf(unit: Unit): Change {
  if (unit.rev === undefined) return unchanged
  let [openCount, endCount] = [0, 0]
  for (const event of unit.events) {
    if (event.type === 'task.accepted') openCount += 1
    else if (isTerminalEvent(event)) endCount += 1
  }
  return openCount === 0 && endCount === 0 ? unchanged : { openCount, endCount }
}

function note(changes: Map<Principal, Change>, principal: Principal, more: Change): void {
  const { openCount, endCount } = changes.get(principal) ?? unchanged
  changes.set(principal, { openCount: openCount + more.openCount, endCount: endCount + more.endCount })
}
