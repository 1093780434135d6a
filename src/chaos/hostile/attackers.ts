import type { World } from '../load/world.ts'
import type { Deployment } from '../nodes/deployment.ts'
import { residentBytes } from '../nodes/resident-memory.ts'
import type { ServedNode } from '../nodes/served-node.ts'
import type { SeededRandom } from '../seeded-random.ts'
import type { Attack, Attacker } from './attack.ts'
import { type AttackName, attacks } from './attacks.ts'
import { harmOf, launch, type Reaction } from './launch.ts'

const weights: Readonly<Record<AttackName, number>> = {
  malformed: 12,
  wrongPath: 12,
  wrongMethod: 8,
  wrongQuery: 14,
  wrongHeader: 12,
  tornHead: 4,
  wrongField: 14,
  wrongJson: 12,
  longJson: 0.5,
  badText: 3,
  hugeBody: 0.5,
  wrongHandshake: 4,
  wrongFrames: 5,
  endlessMessage: 0.25,
  tornFrame: 2,
  wrongMessages: 8,
}

const atOnce = 24
const batch = 1_000
// What a heap is allowed to grow by before it is collected, beyond what the first attacks left.
const growthMax = 256 * 1024 * 1024
const shownMax = 600
// A node that waits for the rest of a request cuts it off sooner.
const patienceMs = 12_000

/** Sends so many requests that are made to hurt, and writes down how they were answered. */
export async function attack(world: World, deployment: Deployment, random: SeededRandom, count: number): Promise<void> {
  if (count === 0) return
  const { strangerToken, nodes } = deployment
  if (strangerToken === undefined) throw new Error('Hostile requests are not sent to nodes that somebody else runs')
  const warmCount = Math.ceil(count / 10)
  await attackAtOnce(world, strangerToken, random, warmCount)
  const before = await Promise.all(nodes.map(memoryOf))
  await attackAtOnce(world, strangerToken, random, count - warmCount)
  for (const [index, node] of nodes.entries()) {
    const bytesMax = (before[index] ?? 0) + growthMax
    const bytes = await memoryOf(node)
    world.recorder.write({ kind: 'memory', node: node.name, hostile: count, bytes, bytesMax })
  }
}

function memoryOf({ pid }: ServedNode): Promise<number> {
  return pid === undefined ? Promise.resolve(0) : residentBytes(pid)
}

async function attackAtOnce(world: World, token: string, random: SeededRandom, count: number): Promise<void> {
  const books = new Map<string, Book>()
  let left = count
  const one = async () => {
    while (left > 0 && !world.isOver) {
      left -= 1
      const node = await world.node(random)
      const { hostname, port, host } = new URL(node.url)
      const made = attacks[random.weighted(weights)]({ random, host, token } satisfies Attacker)
      const reaction = await launch(made, Number(port), { host: hostname, patienceMs })
      // It was down, as it may be while something else is done to it.
      if (!reaction.isConnected) left += 1
      else bookOf(books, world, node.name).enter(made, reaction)
    }
  }
  await Promise.all(Array.from({ length: atOnce }, one))
  for (const book of books.values()) book.write()
}

function bookOf(books: Map<string, Book>, world: World, node: string): Book {
  const book = books.get(node) ?? new Book(world, node)
  books.set(node, book)
  return book
}

/** Counts the answers of one node, and writes them down some at a time. */
class Book {
  readonly #world: World
  readonly #node: string
  #sent = 0
  #statuses: Record<string, number> = {}

  constructor(world: World, node: string) {
    this.#world = world
    this.#node = node
  }

  enter(made: Attack, reaction: Reaction): void {
    const { received, statuses } = reaction
    this.#sent += 1
    for (const status of statuses.length > 0 ? statuses : ['none'])
      this.#statuses[status] = (this.#statuses[status] ?? 0) + 1
    const harm = harmOf(reaction)
    if (harm !== undefined) {
      const sent = made.bytes.toString('latin1').slice(0, shownMax)
      const what = `${made.what}, ${harm}`
      this.#world.recorder.write({ kind: 'hurt', node: this.#node, what, sent, got: received.slice(0, shownMax) })
    }
    if (this.#sent >= batch) this.write()
  }

  write(): void {
    if (this.#sent === 0) return
    this.#world.recorder.write({ kind: 'hostile', node: this.#node, sent: this.#sent, statuses: this.#statuses })
    this.#sent = 0
    this.#statuses = {}
  }
}
