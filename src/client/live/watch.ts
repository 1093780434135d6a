import type { Client } from '../client.ts'
import type { ThreadEvent } from '../thread-event.ts'

/** Who has to know what happens in all threads. */
export interface Watcher {
  /** Events from here on come without a hole; what was before has to be read, now. */
  opened(): void
  event(event: ThreadEvent): void
  /** It is over: nothing comes any more. */
  failed(error: unknown): void
}

/** What changes a list: all but what agents say. */
const watchedTypes: readonly string[] = [
  ...['accepted', 'started', 'resumed', 'cancelling', 'completed', 'failed', 'cancelled'].map((word) => `task.${word}`),
  ...['asked', 'answered', 'closed'].map((word) => `question.${word}`),
  'progress',
  'usage',
]

/** The live events of all threads, read once for all lists of a client, and only while there are any. */
export class Watch {
  readonly #client: Pick<Client, 'firehose'>
  readonly #watchers = new Set<Watcher>()
  #leaving: AbortController | undefined
  #isOpen = false

  constructor(client: Pick<Client, 'firehose'>) {
    this.#client = client
  }

  /** Returns what ends it. */
  join(watcher: Watcher): () => void {
    this.#watchers.add(watcher)
    if (!this.#leaving) void this.#follow()
    else if (this.#isOpen) watcher.opened()
    return () => {
      if (!this.#watchers.delete(watcher) || this.#watchers.size > 0) return
      this.#leaving?.abort()
      this.#leaving = undefined
    }
  }

  async #follow(): Promise<void> {
    const leaving = new AbortController()
    const { signal } = leaving
    this.#leaving = leaving
    this.#isOpen = false
    const opened = (): void => {
      if (signal.aborted) return
      this.#isOpen = true
      for (const watcher of [...this.#watchers]) watcher.opened()
    }
    try {
      for await (const item of this.#client.firehose({ types: watchedTypes, signal, onOpen: opened })) {
        if (signal.aborted) return
        if (item.type === 'missed') opened()
        else for (const watcher of [...this.#watchers]) watcher.event(item)
      }
    } catch (error) {
      if (signal.aborted) return
      this.#leaving = undefined
      for (const watcher of [...this.#watchers]) watcher.failed(error)
    }
  }
}
