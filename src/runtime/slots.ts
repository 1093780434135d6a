import { AgentPlaces } from './agent-places.ts'

/**
 * How much code may run at once on this node. A task that waits for something holds no slot, and takes one again before
 * any new task does, so waiting never starves what is waited for.
 *
 * A slot for a task of an agent that has a limit comes with a place of that agent: calls name the agent then, and whoever
 * took a slot by its name gives it back by its name. Who waits for a place holds no slot; who waits for a slot holds its
 * place, and slots are held by code that runs, so both come.
 */
export class Slots {
  #free: number
  readonly #returning: (() => void)[] = []
  readonly #onFree: () => void
  readonly places: AgentPlaces

  constructor(count: number, onFree: () => void, places: AgentPlaces = new AgentPlaces()) {
    this.#free = count
    this.#onFree = onFree
    this.places = places
  }

  get free(): number {
    return this.#free
  }

  /** For a new task. */
  tryTake(agent?: string): boolean {
    if (this.#free === 0 || !this.places.tryTake(agent)) return false
    this.#free -= 1
    return true
  }

  /** For a task that goes on; first come, first served, before all new ones. */
  take(agent?: string): Promise<void> {
    return this.places.take(agent)?.then(() => this.#take()) ?? this.#take()
  }

  give(agent?: string): void {
    this.places.give(agent)
    const next = this.#returning.shift()
    if (next) return next()
    this.#free += 1
    this.#onFree()
  }

  #take(): Promise<void> {
    if (this.#free === 0) return new Promise((resolve) => this.#returning.push(resolve))
    this.#free -= 1
    return Promise.resolve()
  }
}
