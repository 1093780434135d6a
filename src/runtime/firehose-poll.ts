import { type Principal, threadKey } from '../core/id.ts'
import type { Store } from '../stores/store.ts'
import type { Firehose } from './firehose.ts'

// An event is seen this much later than its instant at the most: longer than a store lets a commit take.
const overlapMs = 10_000
const pageThreads = 200

/**
 * Finds threads of a principal that other nodes wrote to and no notice told of. It lists those with the newest events, back to a
 * while before it looked last, so it costs what has happened since, not what there is.
 */
export class FirehosePoll {
  readonly #store: Store
  readonly #polledAt = new Map<Principal, number>()

  constructor(store: Store) {
    this.#store = store
  }

  async poll(principal: Principal, firehoses: ReadonlySet<Firehose>): Promise<void> {
    const now = this.#store.clock.now()
    const since = (this.#polledAt.get(principal) ?? now) - overlapMs
    for (let cursor: string | undefined; ; ) {
      const page = await this.#store.threads({
        principal,
        limit: pageThreads,
        ...(cursor !== undefined && { cursor }),
      })
      for (const { thread, head, at } of page.threads) {
        for (const firehose of firehoses) firehose.moved(threadKey(principal, thread), head, at)
      }
      cursor = page.cursor
      if (cursor === undefined || (page.threads.at(-1)?.at ?? 0) < since) break
    }
    this.#polledAt.set(principal, now)
  }

  /** Nobody listens to its threads any more. */
  forget(principal: Principal): void {
    this.#polledAt.delete(principal)
  }
}
