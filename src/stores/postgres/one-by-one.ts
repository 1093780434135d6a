/** Work that is done one piece after the other. One that nothing is ahead of begins before `add` returns. */
export class OneByOne {
  #last: Promise<void> = Promise.resolve()
  #aheadCount = 0

  add<Result>(work: () => Promise<Result>): Promise<Result> {
    const isFirst = this.#aheadCount === 0
    this.#aheadCount += 1
    const done = isFirst ? work() : this.#last.then(work)
    const over = () => {
      this.#aheadCount -= 1
    }
    this.#last = done.then(over, over)
    return done
  }

  /** Resolves when all that was added is over, however it ended. */
  async over(): Promise<void> {
    await this.#last
  }
}
