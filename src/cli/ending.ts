import { exitCodes } from './exit-code.ts'
import type { Surroundings } from './surroundings.ts'

// Long enough to put a terminal in order, too short for whoever pressed Ctrl-C to press it again.
const tidyMs = 300

/**
 * What ends a command before its work is done: its time limit, an interrupt that the command does not take itself, or that
 * nobody reads its output any more. Interrupts and the output are watched once somebody looks at `signal`: a command that
 * never does, such as one that starts a server, keeps what its process does by itself.
 */
export class Ending {
  readonly #around: Surroundings
  readonly #controller = new AbortController()
  readonly #fired = Promise.withResolvers<number>()
  readonly #takers: (() => void)[] = []
  readonly #stops: (() => void)[] = []
  #isWatching = false
  #code: number | undefined

  constructor(around: Surroundings, timeoutMs?: number) {
    this.#around = around
    if (timeoutMs === undefined) return
    const timer = around.clock.setTimer(timeoutMs, () => this.#end(exitCodes.timeout))
    this.#stops.push(() => timer.cancel())
  }

  /** Whether it was the time limit that ended it. */
  get hasTimedOut(): boolean {
    return this.#code === exitCodes.timeout
  }

  /** Whether it was an interrupt. */
  get wasInterrupted(): boolean {
    return this.#code === exitCodes.interrupted
  }

  get signal(): AbortSignal {
    this.#watch()
    return this.#controller.signal
  }

  /** While somebody takes interrupts they do not end the command; of several, the last who came takes them. */
  takeInterrupts(listener: () => void): () => void {
    this.#watch()
    this.#takers.push(listener)
    return () => void this.#takers.splice(this.#takers.indexOf(listener), 1)
  }

  /** What the work ends with, or the exit code if it is ended before; the work then has a moment to tidy up. */
  async of<Value>(work: Promise<Value>): Promise<Value | number> {
    try {
      const value = await Promise.race([work, this.#fired.promise])
      if (this.#code === undefined) return value
      await this.#settled(work)
      return this.#code
    } catch (error) {
      if (this.#code === undefined) throw error
      return this.#code
    } finally {
      for (const stop of this.#stops) stop()
    }
  }

  #watch(): void {
    if (this.#isWatching) return
    this.#isWatching = true
    const interrupt = () => (this.#takers.at(-1) ?? (() => this.#end(exitCodes.interrupted)))()
    this.#stops.push(this.#around.onInterrupt(interrupt))
    this.#stops.push(this.#around.onOutputClosed(() => this.#end(exitCodes.ok)))
  }

  #end(code: number): void {
    if (this.#code !== undefined) return
    this.#code = code
    this.#controller.abort()
    this.#fired.resolve(code)
  }

  async #settled(work: Promise<unknown>): Promise<void> {
    const late = Promise.withResolvers<undefined>()
    const timer = this.#around.clock.setTimer(tidyMs, () => late.resolve(undefined))
    await Promise.race([work.catch(() => undefined), late.promise])
    timer.cancel()
  }
}
