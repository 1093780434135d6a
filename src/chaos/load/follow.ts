import type { ThreadSnapshot } from '../../core/thread-snapshot.ts'
import { digestOf, type StreamEnd, type Transport, threadName } from '../history/entry.ts'
import type { ServedNode } from '../nodes/served-node.ts'
import { pause } from '../pause.ts'
import type { SeededRandom } from '../seeded-random.ts'
import { ask, bodyOf } from './http.ts'
import { openReading, type Reading } from './reading.ts'
import { Refused, Unanswered } from './wire-error.ts'
import type { World } from './world.ts'

export interface Followed {
  readonly principal: string
  readonly thread: string
  readonly task?: string
  readonly transport: Transport
}

/** What was asked for is there no more, or no more from there; `first` is what is kept, if that was told. */
class Gone {
  readonly first: number | undefined

  constructor(first: unknown) {
    this.first = typeof first === 'number' ? first : undefined
  }
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
  static async open(world: World, followed: Followed, random: SeededRandom, after: number) {
    const node = await world.node(random)
    const url = world.isRough && random.chance(world.shape.breaking) ? node.breakingUrl : node.url
    const { principal, thread, transport, task } = followed
    const token = world.token(principal)
    const place = { url, token, thread, transport, after, timeoutMs: world.timeoutMs }
    try {
      const reading = await openReading({ ...place, ...(task !== undefined && { task }) })
      return new Connection(world, followed, node, after, reading)
    } catch (error) {
      if (error instanceof Refused) {
        writeRefusal(world, followed, after, error)
        if (isGone(error)) return new Gone(error.problem['first'])
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
    const end = how === 'left' || how === 'gone' ? how : isWell ? (how === 'lost' ? 'cut' : how) : 'lost'
    const { principal, thread, task, transport } = this.#followed
    const { events, ending } = this.reading
    const filter = task === undefined ? {} : { task, ...(ending !== undefined && { ending }) }
    const name = threadName(principal, thread)
    const where = { thread: name, ...filter, transport, node: this.#node.name, after: this.#after }
    recorder.write({ kind: 'stream', ...where, events, end })
    for (const what of this.reading.complaints) recorder.write({ kind: 'broken', what: `${name}: ${what}` })
    this.reading.close()
    return end
  }
}

function writeRefusal(world: World, followed: Followed, after: number, { problem }: Refused): void {
  const { status, code } = problem
  const { first } = new Gone(problem['first'])
  const kept = first === undefined ? {} : { first }
  const thread = threadName(followed.principal, followed.thread)
  const of = followed.task === undefined ? { thread } : { thread, task: followed.task }
  const where = { by: followed.principal, op: `stream after ${after}`, ...of, after }
  world.recorder.write({ kind: 'refused', ...where, ...kept, status, code })
}

function isGone({ problem }: Refused): boolean {
  return problem.code === 'offset_gone' || problem.code === 'not_found'
}

/** Reads a thread for as long as there is load, each time from any node, and at the end to its head. */
export class ThreadReader {
  readonly #world: World
  readonly #followed: Followed
  readonly #random: SeededRandom
  #connection: Connection | undefined
  #last = 0
  /** Before it nothing is kept, as far as this reader was told. */
  #from = 0
  #isOver = false

  constructor(world: World, followed: Followed, random: SeededRandom) {
    this.#world = world
    this.#followed = followed
    this.#random = random
  }

  async run(): Promise<void> {
    while (!this.#isOver) {
      // From where it was, or from somewhere before: then what is replayed meets what is live.
      const isRewinding = this.#random.chance(this.#world.shape.rewinding)
      const after = isRewinding ? this.#from + this.#random.below(this.#last - this.#from + 1) : this.#last
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
    if (connection instanceof Gone) return this.#recover()
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

  /** What it was to read next was deleted or pruned: it goes on from a snapshot, as any client does. */
  async #recover(): Promise<void> {
    const { principal, thread } = this.#followed
    const { url } = await this.#world.node(this.#random)
    const token = this.#world.token(principal)
    const deletes = this.#world.deletesOf(principal, thread)
    try {
      const request = { url: `${url}/v1/threads/${thread}`, token, timeoutMs: this.#world.timeoutMs }
      const { head, first, messages } = bodyOf<ThreadSnapshot>(await ask(request))
      const newest = messages.slice(-4).map((message) => [message.id, digestOf(message)] as const)
      const name = threadName(principal, thread)
      this.#world.recorder.write({ kind: 'read', thread: name, head, messages: newest, ...deletes })
      this.#from = Math.max(this.#from, first - 1)
      this.#last = Math.max(this.#last, head)
    } catch (error) {
      if (!(error instanceof Refused) && !(error instanceof Unanswered)) throw error
      await pause(retryMs)
    }
  }
}

/** Follows a task to its end, however often the stream breaks. Tells whether there is something to be read of it then. */
export async function followTask(world: World, followed: Followed, random: SeededRandom): Promise<boolean> {
  for (let after = 0; !world.isOver; ) {
    const connection = await Connection.open(world, followed, random, after)
    if (connection instanceof Gone) {
      // The task is gone with its thread, or only the beginning of its log is.
      if (connection.first === undefined || connection.first - 1 <= after) return false
      after = connection.first - 1
      continue
    }
    if (!connection) continue
    const end = await connection.finish()
    if (end === 'end') return true
    after = connection.reading.events.at(-1)?.[0] ?? after
  }
  return false
}
