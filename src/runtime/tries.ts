import type { Logger } from './logger.ts'

/**
 * Does what is done again and again, and tells the log of a failure once: until that has been done again, the next failures are of the
 * same trouble, and every second a line or more for each would bury what else the log has to say.
 */
export class Tries {
  readonly #log: Logger
  readonly #failing = new Set<string>()

  constructor(log: Logger) {
    this.#log = log
  }

  /** Never rejects; answers with what went wrong, if it did. `complaint` is what the log is told then. */
  async make(complaint: string, work: () => Promise<void>): Promise<{ readonly error: unknown } | undefined> {
    try {
      await work()
      this.#failing.delete(complaint)
      return undefined
    } catch (error) {
      if (!this.#failing.has(complaint)) this.#log.warn({ err: error }, complaint)
      this.#failing.add(complaint)
      return { error }
    }
  }
}
