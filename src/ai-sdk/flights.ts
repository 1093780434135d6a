/**
 * The model and tool calls of one run that are under way. The SDK lets go of them when it is aborted; the task does not end
 * before they have, or before its grace time is over.
 */
export class Flights {
  readonly #open = new Set<Promise<unknown>>()

  add<Value>(flight: Promise<Value>): Promise<Value> {
    this.#open.add(flight)
    const leave = () => void this.#open.delete(flight)
    flight.then(leave, leave)
    return flight
  }

  async landed(): Promise<void> {
    while (this.#open.size > 0) await Promise.allSettled(this.#open)
  }
}
