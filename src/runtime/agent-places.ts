import type { AgentLimit } from '../stores/claim.ts'

/** What is known of an agent that has a limit. */
interface Places {
  readonly max: number
  here: number
  /** What other nodes execute, as it was last heard of. */
  elsewhere: number
  /** Tasks that go on, in the order in which they asked. */
  readonly returning: (() => void)[]
}

/**
 * How much code of each agent may run at once, over all nodes. Like a slot, a place is held while code runs and given back
 * while its task only waits, so that a task never waits for one that it holds itself up. Agents without a limit need none.
 *
 * A1 This node never executes more of an agent than its limit, but for what is left to do of tasks that are to stop.
 * A2 It starts nothing of an agent while all nodes together execute as much as its limit, as far as this one has heard. What
 *    others execute is as of the last claim or count, so it is passed by no more than nodes start within a second, and by A4.
 * A3 A task that goes on comes before new ones.
 * A4 On a node that executes nothing of an agent, one of its tasks goes on whatever others execute: they may have new work
 *    for ever, and tasks that were begun are to end.
 */
export class AgentPlaces {
  readonly #limited = new Map<string, Places>()

  /** Agents that are not in `maxOf` have no limit. */
  constructor(maxOf: ReadonlyMap<string, number> = new Map()) {
    for (const [agent, max] of maxOf) this.#limited.set(agent, { max, here: 0, elsewhere: 0, returning: [] })
  }

  /** What a claim is to keep to, and tell other nodes of; undefined if no agent has a limit. */
  get limits(): ReadonlyMap<string, AgentLimit> | undefined {
    if (this.#limited.size === 0) return undefined
    return new Map([...this.#limited].map(([agent, { max, here }]) => [agent, { max, executing: here }]))
  }

  isLimited(agent: string | undefined): boolean {
    return agent !== undefined && this.#limited.has(agent)
  }

  /** For a new task. */
  tryTake(agent: string | undefined): boolean {
    const places = this.#of(agent)
    if (!places) return true
    if (places.returning.length > 0 || places.here + places.elsewhere >= places.max) return false
    places.here += 1
    return true
  }

  /** For a task that goes on; undefined if it need not wait. */
  take(agent: string | undefined): Promise<void> | undefined {
    const places = this.#of(agent)
    if (!places) return undefined
    if (places.returning.length === 0 && canGoOn(places)) {
      places.here += 1
      return undefined
    }
    return new Promise((resolve) => places.returning.push(resolve))
  }

  give(agent: string | undefined): void {
    const places = this.#of(agent)
    if (!places) return
    places.here -= 1
    serve(places)
  }

  /** What other nodes execute of agents with a limit. */
  heard(elsewhere: ReadonlyMap<string, number>): void {
    for (const [agent, places] of this.#limited) {
      places.elsewhere = elsewhere.get(agent) ?? 0
      serve(places)
    }
  }

  #of(agent: string | undefined): Places | undefined {
    return agent === undefined ? undefined : this.#limited.get(agent)
  }
}

/** A1, A4. */
function canGoOn({ max, here, elsewhere }: Places): boolean {
  return here === 0 || here + elsewhere < max
}

function serve(places: Places): void {
  while (canGoOn(places)) {
    const next = places.returning.shift()
    if (!next) return
    places.here += 1
    next()
  }
}
