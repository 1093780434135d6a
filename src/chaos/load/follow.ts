import { type StreamEnd, type Transport, threadName } from '../history/entry.ts'
import type { ServedNode } from '../nodes/served-node.ts'
import { pause } from '../pause.ts'
import type { SeededRandom } from '../seeded-random.ts'
import { openReading, type Reading } from './reading.ts'
import { Refused, Unanswered } from './wire-error.ts'
import type { World } from './world.ts'

export interface Followed {
  readonly principal: string
  readonly thread: string
  readonly task?: string
  readonly transport: Transport
}

const retryMs = 30

/** A stream of one node that a reader follows, and what is written down of it. */
class Connection {
  readonly reading: Reading
  readonly #world: World
  readonly #followed: Followed
  readonly #node: ServedNode
  readonly #life: number
  readonly #after: number

  private constructor(world: World, followed: Followed, node: ServedNode, after: number, reading: Reading) {
    this.#world = world
    this.#followed = followed
    this.#node = node
    this.#life = node.life
    this.#after = after
    this.reading = reading
  }

  /** Undefined if no answer came, or the node may not serve now. */
  static async open(
    world: World,
    followed: Followed,
    random: SeededRandom,
    after: number,
  ): Promise<Connection | undefined> {
    const node = await world.node(random)
    const url = world.isRough && random.chance(0.7) ? node.breakingUrl : node.url
    const { principal, thread, transport, task } = followed
    const token = world.token(principal)
    const place = {
      url,
      token,
      thread,
      transport,
      after,
      timeoutMs: world.timeoutMs,
      ...(task !== undefined && { task }),
    }
    try {
      return new Connection(world, followed, node, after, await openReading(place))
    } catch (error) {
      if (error instanceof Refused) {
        const { status, code } = error.problem
        world.recorder.write({ kind: 'refused', by: principal, op: `stream after ${after}`, status, code })
      } else if (!(error instanceof Unanswered)) throw error
      await pause(retryMs)
      return undefined
    }
  }

  /** Writes down what came, and tells how it ended. */
  async finish(): Promise<StreamEnd> {
    const { recorder } = this.#world
    const how = await this.reading.ended
    const isWell = this.#node.isUp && this.#node.life === this.#life
    // A node that drains ends its streams, and so does the line of a node that is well.
    const end = how === 'left' ? how : isWell ? (how === 'lost' ? 'cut' : how) : 'lost'
    const { principal, thread, task, transport } = this.#followed
    const filter = task === undefined ? {} : { task }
    const name = threadName(principal, thread)
    const { events } = this.reading
    recorder.write({
      kind: 'stream',
      thread: name,
      ...filter,
      transport,
      node: this.#node.name,
      after: this.#after,
      events,
      end,
    })
    for (const what of this.reading.complaints) recorder.write({ kind: 'broken', what: `${name}: ${what}` })
    this.reading.close()
    return end
  }
}

/** Reads a thread for as long as there is load, each time from any node, and at the end to its head. */
export class ThreadReader {
  readonly #world: World
  readonly #followed: Followed
  readonly #random: SeededRandom
  #connection: Connection | undefined
  #last = 0
  #isOver = false

  constructor(world: World, followed: Followed, random: SeededRandom) {
    this.#world = world
    this.#followed = followed
    this.#random = random
  }

  async run(): Promise<void> {
    while (!this.#isOver) {
      // From where it was, or from somewhere before: then what is replayed meets what is live.
      const after = this.#random.chance(0.5) ? this.#last : this.#random.below(this.#last + 1)
      await this.#read(after, () => this.#isOver)
    }
  }

  /** Ends `run`. */
  stop(): void {
    this.#isOver = true
    this.#connection?.reading.close()
  }

  /** Reads the rest, up to the head of the thread. */
  async finish(head: number): Promise<void> {
    while (this.#last < head && !this.#world.isOver) await this.#read(this.#last, (seq) => seq >= head)
  }

  async #read(after: number, isEnough: (seq: number) => boolean): Promise<void> {
    const connection = await Connection.open(this.#world, this.#followed, this.#random, after)
    if (!connection) return
    this.#connection = connection
    const { reading } = connection
    const look = (seq: number) => {
      if (isEnough(seq)) reading.close()
    }
    reading.onSeq(look)
    look(reading.events.at(-1)?.[0] ?? 0)
    await connection.finish()
    this.#last = Math.max(this.#last, reading.events.at(-1)?.[0] ?? 0)
  }
}

/** Follows a task to its end, however often the stream breaks. */
export async function followTask(world: World, followed: Followed, random: SeededRandom): Promise<void> {
  for (let after = 0; !world.isOver; ) {
    const connection = await Connection.open(world, followed, random, after)
    if (!connection) continue
    const end = await connection.finish()
    if (end === 'end') return
    after = connection.reading.events.at(-1)?.[0] ?? after
  }
}
