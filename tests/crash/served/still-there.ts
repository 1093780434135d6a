import type { Event } from '../../../src/index.ts'
import { read } from '../../server/harness/reads.ts'
import { entriesOf } from '../history.ts'
import type { ServedWorld } from './served-world.ts'

interface Page {
  readonly events: readonly Event[]
  readonly head: number
  readonly next: number
}

/** Looks after a restart whether all that clients know is there. What was found once is not read again. */
export class StillThere {
  readonly #world: ServedWorld
  readonly #heads = new Map<string, number>()
  readonly #accepted = new Set<string>()
  readonly #cancelled = new Set<string>()

  constructor(world: ServedWorld) {
    this.#world = world
  }

  /** Complains about what is missing or changed. */
  async check(): Promise<void> {
    const { entries, threads, diedAt } = this.#world
    const known = { entries: [...entries], effects: [], diedAt }
    const seen = new Map(threads.map((thread) => [thread, this.#world.seenOf(thread)]))
    for (const thread of threads) await this.#readOn(thread, seen.get(thread) ?? [])
    for (const { task } of entriesOf(known, 'accepted')) {
      if (!this.#accepted.has(task)) this.#world.broken(`${task} was accepted and is not in the log after a restart`)
    }
    for (const task of entriesOf(known, 'cancelled').flatMap(({ tasks }) => tasks)) {
      if (!this.#cancelled.has(task)) this.#world.broken(`the cancel of ${task} is not in the log after a restart`)
    }
  }

  async #readOn(thread: string, seen: readonly (string | undefined)[]): Promise<void> {
    for (;;) {
      const after = this.#heads.get(thread) ?? 0
      const path = `/v1/threads/${thread}/events?limit=1000&after=${after}`
      const { events, head, next } = await read<Page>(this.#world.server, path)
      for (const event of events) this.#take(thread, event, seen[event.seq])
      this.#heads.set(thread, next)
      if (next < head) continue
      if (seen.length > next + 1) this.#world.broken(`${thread}: ${seen.length - 1} was seen, and its head is ${head}`)
      return
    }
  }

  #take(thread: string, event: Event, seen: string | undefined): void {
    const text = JSON.stringify(event)
    if (seen !== undefined && seen !== text) this.#world.broken(`${thread}: ${seen} is ${text} after a restart`)
    if (event.task === undefined) return
    if (event.type === 'task.accepted') this.#accepted.add(event.task)
    if (event.type === 'task.cancelling' || event.type === 'task.cancelled') this.#cancelled.add(event.task)
  }
}
