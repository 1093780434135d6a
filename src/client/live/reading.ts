import { isHoldfastError } from '../../core/errors.ts'
import { backOffMs } from '../back-off.ts'
import { pause } from '../clock.ts'
import { isPassing, retryAfterMs } from '../failure.ts'
import type { Following, Loadable } from './live-model.ts'
import type { LiveParts } from './live-parts.ts'

/**
 * Reads what a list shows, again and again where that fails for a reason that may pass, because nobody else would: what is
 * heard of from then on says nothing of what was missed. A later reading makes an earlier one void.
 */
export class Reading {
  readonly #parts: Pick<LiveParts, 'clock' | 'random'>
  #latest: object | undefined

  constructor(parts: Pick<LiveParts, 'clock' | 'random'>) {
    this.#parts = parts
  }

  /** What goes wrong is told by the value. */
  async run<Value extends Loadable>(following: Following<Value>, read: () => Promise<void>): Promise<void> {
    const own = {}
    this.#latest = own
    const isVoid = (): boolean => following.signal.aborted || this.#latest !== own
    for (let failures = 1; !isVoid(); failures += 1) {
      try {
        return await read()
      } catch (error) {
        if (isVoid()) return
        following.fail(error)
        if (!isHoldfastError(error) || !isPassing(error)) return
        await this.#pause(backOffMs(failures, this.#parts.random(), retryAfterMs(error)), following.signal)
      }
    }
  }

  async #pause(ms: number, signal: AbortSignal): Promise<void> {
    // Whoever leaves meanwhile is not waited for.
    await pause(this.#parts.clock, ms, signal).catch(() => {})
  }
}
