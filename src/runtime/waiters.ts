/** Those who wait for one thing, which lets all of them go on whenever it happens. */
export class Waiters {
  #resolves: (() => void)[] = []

  wait(): Promise<void> {
    return new Promise((resolve) => this.#resolves.push(resolve))
  }

  /** Whoever begins to wait meanwhile waits for the next time. */
  release(): void {
    if (this.#resolves.length === 0) return
    for (const resolve of this.#resolves.splice(0)) resolve()
  }
}
