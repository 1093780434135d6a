/**
 * The model and tool calls of one loop that are under way. The SDK lets go of them when it is aborted; the task does not
 * end before they have, or before its grace time is over.
 */
export class OpenCalls {
  readonly #calls = new Set<Promise<unknown>>()

  add<Value>(call: Promise<Value>): Promise<Value> {
    this.#calls.add(call)
    const leave = () => void this.#calls.delete(call)
    call.then(leave, leave)
    return call
  }

  async ended(): Promise<void> {
    while (this.#calls.size > 0) await Promise.allSettled(this.#calls)
  }
}
