import type { Fault } from './deployment.ts'

/** Knows when something is done to a store or to the lines to it, so that what fails without that is told from what fails by it. */
export class StoreTroubles {
  #beginCount = 0
  #openCount = 0

  /** The same fault, of which this knows. */
  watched(fault: Fault): Fault {
    return {
      ...fault,
      inject: async (random) => {
        this.#beginCount += 1
        this.#openCount += 1
        try {
          await fault.inject(random)
        } finally {
          this.#openCount -= 1
        }
      },
    }
  }

  /** Answers, when it is asked, whether there was any from now on. */
  fromNow(): () => boolean {
    const isOpen = this.#openCount > 0
    const before = this.#beginCount
    return () => isOpen || this.#beginCount !== before
  }
}
