/**
 * How much code may run at once on this node. A task that waits for something holds no slot, and takes one again before
 * any new task does, so waiting never starves what is waited for.
 */
export class Slots {
  #free: number
  readonly #returning: (() => void)[] = []
  readonly #onFree: () => void

  constructor(count: number, onFree: () => void) {
    this.#free = count
    this.#onFree = onFree
  }

  get free(): number {
    return this.#free
  }

  /** For a new task. */
  tryTake(): boolean {
    if (this.#free === 0) return false
    this.#free -= 1
    return true
  }

  /** For a task that goes on; first come, first served, before all new ones. */
  take(): Promise<void> {
    if (this.tryTake()) return Promise.resolve()
    return new Promise((resolve) => this.#returning.push(resolve))
  }

  give(): void {
    const next = this.#returning.shift()
    if (next) return next()
    this.#free += 1
    this.#onFree()
  }
}
