import type { TaskId } from '../core/id.ts'
import { release } from '../core/recover.ts'
import type { TaskRef } from '../stores/claim.ts'
import type { Store } from '../stores/store.ts'
import type { Closures } from './closures.ts'
import { intent } from './entry.ts'
import type { Executor } from './executor.ts'
import type { Logger } from './logger.ts'
import type { Recovery } from './recovery.ts'
import type { Writer } from './writer.ts'

export interface StraysParts {
  readonly store: Store
  readonly writer: Writer
  readonly executor: Pick<Executor, 'get' | 'all'>
  readonly recovery: Pick<Recovery, 'unsettled'>
  readonly closures: Pick<Closures, 'has' | 'all'>
  readonly log: Logger
  readonly node: string
}

// More than that are found by the next look.
const countMax = 256
// What cannot be given up now, in a thread that another program holds or that cannot be read, seldom can be within seconds.
const restLooks = 6

/**
 * Tasks that the store has under this node and that nobody here executes. The lease of a node that lives keeps all others from
 * them, so without this they would wait until it is started anew. They come from a store that was put back to an earlier state, by a
 * copy or by a failover that lost something, and from a takeover that could not be given up.
 *
 * Y1 What begins or ends at the moment of a look may seem to be one. Only what two looks in a row have found is given up, and only if
 *    it is still so when that is decided, where all that was decided before it is known.
 * Y2 What is given up is an orphan as any other, and its takeover no crash.
 */
export class Strays {
  readonly #parts: StraysParts
  /** What the last look has found. */
  #found: ReadonlySet<TaskId> = new Set()
  /** What could not be given up, and for how many looks it is left out, so that others have their turn. */
  readonly #resting = new Map<TaskId, number>()
  /** Those of whom the log was told that. */
  readonly #told = new Set<TaskId>()
  #isClosed = false

  constructor(parts: StraysParts) {
    this.#parts = parts
  }

  async check(): Promise<void> {
    const { store, writer, node, executor, recovery, closures } = this.#parts
    if (this.#isClosed || writer.isDown) return
    for (const [id, looks] of this.#resting) {
      if (looks > 0) this.#resting.set(id, looks - 1)
      else this.#resting.delete(id)
    }
    const here = [...executor.all().map(({ task }) => task), ...recovery.unsettled, ...closures.all()]
    const executing = [...here, ...this.#resting.keys()]
    const query = { node, agents: [], starts: 0, orphans: countMax, withCounts: false, executing }
    const { orphans } = await store.claim(query)
    const again = orphans.filter(({ id }) => this.#found.has(id))
    this.#found = new Set(orphans.map(({ id }) => id))
    for (const id of this.#told) if (!this.#found.has(id) && !this.#resting.has(id)) this.#told.delete(id)
    await Promise.all(again.map((stray) => this.#giveUp(stray)))
  }

  /** A node that drains gives all up, whatever it has. */
  close(): void {
    this.#isClosed = true
  }

  /** Y1. */
  async #giveUp({ id, key }: TaskRef): Promise<void> {
    const { writer, node, log } = this.#parts
    const giving = writer.change(
      intent(key, 'release', (live, around) => {
        const record = live.task(id)
        if (record?.node !== node || this.#isClosed || this.#isHere(id)) return { value: undefined }
        return release(live, around, id, record.epoch)
      }),
    )
    try {
      const done = await giving
      if ('value' in done && done.value) log.warn({ task: id }, 'a task that this node had lost is given up, to go on')
    } catch (error) {
      this.#resting.set(id, restLooks)
      if (this.#told.has(id)) return
      this.#told.add(id)
      log.warn({ err: error, task: id }, 'a task that this node has lost could not be given up; it is tried again')
    }
  }

  #isHere(id: TaskId): boolean {
    const { executor, recovery, closures } = this.#parts
    return executor.get(id) !== undefined || recovery.unsettled.includes(id) || closures.has(id)
  }
}
