import type { Event } from '../../../src/index.ts'
import { type Transport, watch } from '../../server/harness/client.ts'
import { Refused } from '../../server/harness/refused.ts'
import type { TestServer } from '../../server/harness/server.ts'
import type { Watcher } from '../../server/harness/tape.ts'
import type { SeededRandom } from '../seeded-random.ts'
import type { ServedWorld } from './served-world.ts'

export interface Reading {
  readonly thread: string
  readonly task?: string
  readonly after: number
  readonly transport: Transport
}

/** Opens a stream, or tells in `undefined` that no answer came. That the server refuses is never right. */
async function open(world: ServedWorld, server: TestServer, reading: Reading): Promise<Watcher | undefined> {
  try {
    return await watch(reading.transport, server, reading)
  } catch (error) {
    if (error instanceof Refused) world.broken(`${JSON.stringify(reading)} was refused: ${error.message}`)
    return undefined
  }
}

/** Takes over what a stream brought: in order, without a hole where it is not filtered. */
function take(world: ServedWorld, { thread, task, after }: Reading, { events }: Watcher): void {
  let last = after
  for (const event of events) {
    const isNext = task === undefined ? event.seq === last + 1 : event.seq > last && event.task === task
    if (!isNext) world.broken(`${thread}: ${event.seq} came after ${last}${task === undefined ? '' : ` for ${task}`}`)
    last = event.seq
    world.see(thread, event)
  }
}

/** Reads a thread for as long as there is load, over a line that breaks, and at the end to its head. */
export class ThreadReader {
  readonly #world: ServedWorld
  readonly #random: SeededRandom
  readonly #thread: string
  readonly #transport: Transport
  #watcher: Watcher | undefined
  #last = 0
  #isOver = false

  constructor(world: ServedWorld, random: SeededRandom, thread: string, transport: Transport) {
    this.#world = world
    this.#random = random
    this.#thread = thread
    this.#transport = transport
  }

  async run(): Promise<void> {
    while (!this.#isOver) {
      await this.#world.up()
      if (!this.#isOver) await this.#once()
    }
  }

  /** Ends `run`. */
  stop(): void {
    this.#isOver = true
    this.#watcher?.close()
  }

  /** Reads the rest, up to the head of the thread. */
  async finish(head: number): Promise<void> {
    if (this.#last >= head) return
    const reading = this.#reading(this.#last)
    const watcher = await watch(this.#transport, this.#world.server, reading)
    await watcher.until(({ seq }) => seq >= head)
    watcher.close()
    take(this.#world, reading, watcher)
  }

  async #once(): Promise<void> {
    const { life } = this.#world
    // Mostly from where it was; now and then from somewhere before.
    const reading = this.#reading(this.#random.chance(0.8) ? this.#last : this.#random.below(this.#last + 1))
    const watcher = await open(this.#world, this.#world.breaking, reading)
    if (!watcher) return
    this.#watcher = watcher
    if (this.#isOver) watcher.close()
    await watcher.ended
    take(this.#world, reading, watcher)
    this.#last = Math.max(this.#last, watcher.events.at(-1)?.seq ?? 0)
    const isCut = !this.#isOver && this.#world.isUp && this.#world.life === life
    if (isCut && watcher.events.length > 0) this.#world.counts.resumeCuts += 1
  }

  #reading(after: number): Reading {
    return { thread: this.#thread, transport: this.#transport, after }
  }
}

/** Follows a task to its end, however often the stream breaks, and tells by which events. */
export async function followTask(world: ServedWorld, reading: Omit<Reading, 'after'>): Promise<readonly Event[]> {
  const events: Event[] = []
  for (;;) {
    await world.up()
    const { life } = world
    const now = { ...reading, after: events.at(-1)?.seq ?? 0 }
    const watcher = await open(world, world.isLoading ? world.breaking : world.server, now)
    if (!watcher) continue
    const end = await watcher.ended
    watcher.close()
    take(world, now, watcher)
    events.push(...watcher.events)
    if (end.by === 'end') return events
    if (world.isUp && world.life === life && watcher.events.length > 0) world.counts.resumeCuts += 1
  }
}
