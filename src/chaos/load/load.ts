import { systemClock } from '../../runtime/clock.ts'
import type { Deployment } from '../nodes/deployment.ts'
import { pause } from '../pause.ts'
import { SeededRandom } from '../seeded-random.ts'
import { FinalReads } from './final-reads.ts'
import { ThreadReader } from './follow.ts'
import { LoadClient } from './load-client.ts'
import { serveOnce } from './serve-once.ts'
import type { World } from './world.ts'

// What G19 allows beside the lease, and a little more, so that what is late is told from what never comes.
const overMs = 35_000
const lookMs = 200
const transports = ['sse', 'ws'] as const

/** All clients of a round. */
export class Load {
  /** Never resolves; rejects if a client comes to a wrong end. */
  readonly failed: Promise<never>
  readonly #world: World
  readonly #readers: { readonly principal: string; readonly thread: string; readonly reader: ThreadReader }[] = []
  readonly #clientsDone: Promise<unknown>
  readonly #readersDone: Promise<unknown>

  constructor(world: World, random: SeededRandom) {
    this.#world = world
    const fresh = () => new SeededRandom(random.below(2 ** 31))
    const clients = Array.from({ length: world.shape.clients }, (_, index) => {
      const principal = world.principals[index % 3 === 2 ? world.principals.length - 1 : 0] ?? ''
      const transport = transports[index % 2] ?? 'sse'
      return new LoadClient(world, fresh(), `client${index}`, principal, transport)
    })
    for (const [principal, thread] of world.allThreads) {
      for (let index = 0; index < transports.length * world.shape.readers; index += 1) {
        const followed = { principal, thread, transport: transports[index % 2] ?? 'sse' }
        this.#readers.push({ principal, thread, reader: new ThreadReader(world, followed, fresh()) })
      }
    }
    this.#clientsDone = Promise.all(clients.map((client) => client.run()))
    this.#readersDone = Promise.all(this.#readers.map(({ reader }) => reader.run()))
    this.failed = new Promise((_, reject) => {
      // Who is still at it when the round is over, because something did not end, is left to itself.
      const tell = (error: unknown) => {
        if (!world.isOver) reject(error)
      }
      this.#clientsDone.catch(tell)
      this.#readersDone.catch(tell)
    })
    this.failed.catch(() => {})
  }

  /** Lets all tasks end and all clients see that, and writes down what is there then. */
  async rest({ nodes, leaseMs }: Deployment): Promise<void> {
    const world = this.#world
    world.isLoading = false
    const [first] = nodes
    if (!first) throw new Error('There is no node to ask')
    const reads = new FinalReads(world, first)
    const deadline = performance.now() + leaseMs + overMs
    const done = Promise.all([...nodes.map((node) => serveOnce(world, node)), this.#clientsDone])
    await doneBy(deadline, done)
    let live = await reads.live()
    while (live.length > 0 && performance.now() < deadline) {
      await pause(lookMs)
      live = await reads.live()
    }
    world.recorder.write({ kind: 'over', at: systemClock.now(), live })
    for (const { reader } of this.#readers) reader.stop()
    await this.#readersDone
    if (live.length === 0) await doneBy(performance.now() + overMs, this.#readToHeads(reads))
    world.isOver = true
    await reads.writeAll()
    for (const node of nodes.slice(1)) await new FinalReads(world, node).writeDigests()
  }

  async #readToHeads(reads: FinalReads): Promise<void> {
    await Promise.all(
      this.#readers.map(async ({ principal, thread, reader }) => reader.finish(await reads.head(principal, thread))),
    )
  }
}

/** Waits for this, but not beyond a time, and leaves no timer behind. What it rejects with is told elsewhere. */
async function doneBy(deadline: number, work: Promise<unknown>): Promise<void> {
  let isDone = false
  const done = () => {
    isDone = true
  }
  work.then(done, done)
  while (!isDone && performance.now() < deadline) await pause(lookMs)
}
