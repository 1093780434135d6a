import { setImmediate as nextTurn } from 'node:timers/promises'
import type { EventDraft, EventType } from '../../../src/core/event.ts'
import { encodeLine } from '../../../src/core/event-line.ts'
import type { EventRow } from '../../../src/core/event-row.ts'
import { principal, type TaskId, type ThreadKey, taskId, threadId, threadKey } from '../../../src/core/id.ts'
import type { Committed, Unit } from '../../../src/core/unit.ts'
import { Feed } from '../../../src/runtime/feed.ts'
import { LogStretch } from '../../../src/runtime/log-stretch.ts'
import { Metrics } from '../../../src/runtime/metrics.ts'
import { memoryStore } from '../../../src/stores/memory/index.ts'
import type { EventPage, Store } from '../../../src/stores/store.ts'
import { manualClock } from '../../../src/testing/manual-clock.ts'

export const owner = principal('owner')

export function keyOf(thread: string): ThreadKey {
  return threadKey(owner, threadId(thread))
}

/** An event of a log as a test writes it. */
export interface Line {
  readonly type?: EventType
  readonly task?: string
  readonly length?: number
}

const fillers = new Map<number, string>()

function draft({ type = 'text.delta', task, length = 1 }: Line): EventDraft {
  const filler = fillers.get(length) ?? JSON.stringify({ text: 'x'.repeat(length) })
  fillers.set(length, filler)
  return { type, data: filler, ...(task !== undefined && { task: taskId(task) }) }
}

export interface Reading {
  /** Before the store looks, and after it did. */
  readonly pause?: () => Promise<unknown>
  /** At most this many events are on a page. */
  readonly pageEvents?: number
  /** Whoever takes rows is given rows of so many events each. */
  readonly rowEvents?: number | undefined
}

/** A feed on a memory store, with somebody who commits and publishes, as the writer of this node or of another. */
export class WrittenLog {
  readonly clock = manualClock(1000)
  readonly store: Store
  readonly feed: Feed
  /** Every event that was committed, by thread. */
  readonly log = new Map<ThreadKey, { seq: number; type: string; task?: TaskId }[]>()
  /** What this node was told of, by thread: all that follows `after`, up to `upTo`. */
  readonly told = new Map<ThreadKey, { after: number; upTo: number }>()
  readCount = 0
  #first = 1

  static async open(reading: Reading = {}): Promise<WrittenLog> {
    const here = new WrittenLog(reading)
    await here.store.open()
    return here
  }

  private constructor({ pause, pageEvents = 1000, rowEvents }: Reading) {
    const inner = memoryStore({ clock: this.clock })
    const events: Store['events'] = async (key, query) => {
      this.readCount += 1
      await pause?.()
      const page = await inner.events(key, { ...query, limit: Math.min(query.limit, pageEvents) })
      await pause?.()
      return query.asRows && rowEvents !== undefined ? inRows(this.#cut(page), rowEvents) : this.#cut(page)
    }
    this.store = new Proxy(inner, {
      get: (target, name) => {
        if (name === 'events') return events
        const value: unknown = Reflect.get(target, name)
        return typeof value === 'function' ? value.bind(target) : value
      },
    })
    this.feed = new Feed(this.store, new Metrics(), this.clock)
  }

  head(key: ThreadKey): number {
    return this.log.get(key)?.length ?? 0
  }

  /** What is left to do after the commit: whoever wrote publishes, a node that did not is given a hint, or the row, or neither. */
  async commit(key: ThreadKey, lines: readonly Line[]): Promise<{ publish(): void; hint(): void; row(): void }> {
    const events = lines.map(draft)
    const unit: Unit = { operation: 'emit', thread: key, events }
    const [verdict] = await this.store.commit([unit])
    if (!verdict?.committed) throw new Error('An event without a fence is not refused')
    this.#note(key, events, verdict)
    const upTo = verdict.first + events.length - 1
    const tell = (after: number) => this.told.set(key, { after: this.told.get(key)?.after ?? after, upTo })
    return {
      publish: () => {
        if (events.length > 0) tell(verdict.first - 1)
        this.feed.publish(key, verdict.first, verdict.at, events)
      },
      hint: () => {
        tell(0)
        this.feed.hint(key)
      },
      row: () => {
        if (events.length === 0) return
        tell(0)
        const { first, at } = verdict
        this.feed.grown(key, { first, last: upTo, at, body: events.map(encodeLine).join('\n') })
      },
    }
  }

  async write(key: ThreadKey, ...lines: readonly Line[]): Promise<void> {
    const { publish } = await this.commit(key, lines)
    publish()
  }

  /** Erases a thread, as this node or as another. */
  async erase(key: ThreadKey, by: 'this node' | 'another node'): Promise<void> {
    await this.store.commit([{ operation: 'erase', thread: key, events: [], erase: true }])
    if (by === 'this node') this.feed.closeThread(key)
    else this.feed.hint(key)
  }

  /** As retention or an erase would: what is before this number is not given any more. */
  forget(first: number): void {
    this.#first = first
  }

  #note(key: ThreadKey, events: readonly EventDraft[], { first }: Committed): void {
    const log = this.log.get(key) ?? []
    this.log.set(key, log)
    for (const [i, { type, task }] of events.entries()) log.push({ seq: first + i, type, ...(task && { task }) })
  }

  #cut(page: EventPage): EventPage {
    if (this.#first <= page.first) return page
    return { ...page, first: this.#first, events: page.events.filter(({ seq }) => seq >= this.#first) }
  }
}

/** The page as a store gives it that keeps lines. */
function inRows({ events, ...page }: EventPage, rowEvents: number): EventPage {
  const rows: EventRow[] = []
  for (let from = 0; from < events.length; from += rowEvents) {
    const some = events.slice(from, from + rowEvents)
    const [first, last] = [some[0], some.at(-1)]
    if (!first || !last) break
    rows.push({ first: first.seq, last: last.seq, at: first.at, body: some.map(encodeLine).join('\n') })
  }
  return { ...page, events: [], rows }
}

interface Scheduler {
  count(): number
  waitOne(): Promise<void>
}

// More turns of the event loop than anything takes that waits for nothing else, and more steps than all of it takes.
const idleTurnsMax = 20
const stepsMax = 10_000

/** Does what is scheduled, one by one, until nothing is left to do. Fails if something is always left. */
export async function playOut(scheduler: Scheduler): Promise<void> {
  let stepCount = 0
  for (let idleTurns = 0; idleTurns < idleTurnsMax; idleTurns += 1) {
    await nextTurn()
    while (scheduler.count() > 0) {
      idleTurns = 0
      stepCount += 1
      if (stepCount > stepsMax) throw new Error('It never comes to rest')
      await scheduler.waitOne()
    }
  }
}

/** Lets everything happen that waits for nothing but its turn. */
export async function turns(count = 20): Promise<void> {
  for (let i = 0; i < count; i += 1) await nextTurn()
}

export function seqs(batch: LogStretch | readonly { readonly seq: number }[] | undefined): number[] | undefined {
  return (batch instanceof LogStretch ? batch.entries() : batch)?.map((entry) => entry.seq)
}
