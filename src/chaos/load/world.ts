import { type Deletes, threadName } from '../history/entry.ts'
import type { Recorder } from '../history/recorder.ts'
import type { ServedNode } from '../nodes/served-node.ts'
import { pause } from '../pause.ts'
import type { SeededRandom } from '../seeded-random.ts'
import type { LoadShape } from './load-shape.ts'

export interface WorldOptions {
  readonly recorder: Recorder
  readonly nodes: readonly ServedNode[]
  /** Tokens by principal. */
  readonly tokens: Readonly<Record<string, string>>
  /** Thread ids by principal. */
  readonly threads: Readonly<Record<string, readonly string[]>>
  /** Thread ids by principal, of threads that are deleted now and then. */
  readonly fleeting: Readonly<Record<string, readonly string[]>>
  /** Whose threads may be pruned, if anybody's: retention of a principal reaches all threads that it has. */
  readonly pruned?: string
  readonly shape: LoadShape
  /** Where steps leave their effects. */
  readonly effect: string
  readonly leaseMs: number
}

// So long a client waits before it looks again for a node to ask.
const lookMs = 20

/** What all clients of a round share: whom they ask, where they write, and whether they are to go on. */
export class World {
  readonly recorder: Recorder
  readonly nodes: readonly ServedNode[]
  readonly threads: Readonly<Record<string, readonly string[]>>
  readonly fleeting: Readonly<Record<string, readonly string[]>>
  readonly pruned: string | undefined
  readonly shape: LoadShape
  readonly effect: string
  /** Longer than a node without a fault takes, so that only one that is frozen or cut off is given up. */
  readonly timeoutMs: number
  /** Clients think of new things to ask. */
  isLoading = true
  /** Faults are injected. */
  isRough = true
  /** Nobody waits for anything any more. */
  isOver = false
  readonly #tokens: Readonly<Record<string, string>>
  readonly #guests: { readonly principal: string; readonly token: string; readonly threads: readonly string[] }[] = []

  constructor(options: WorldOptions) {
    this.recorder = options.recorder
    this.nodes = options.nodes
    this.threads = options.threads
    this.fleeting = options.fleeting
    this.pruned = options.pruned
    this.shape = options.shape
    this.effect = options.effect
    this.timeoutMs = Math.max(2_000, 2 * options.leaseMs)
    this.#tokens = options.tokens
  }

  get principals(): string[] {
    return Object.keys(this.#tokens)
  }

  /** Whoever is no client and has threads of its own, which are looked at as well when the round is over. */
  admit(principal: string, token: string, threads: readonly string[]): void {
    this.#guests.push({ principal, token, threads })
  }

  /** All threads, with whom they belong to. */
  get allThreads(): [principal: string, thread: string][] {
    const own = this.principals.map((principal) => {
      return { principal, threads: [...(this.threads[principal] ?? []), ...(this.fleeting[principal] ?? [])] }
    })
    return [...own, ...this.#guests].flatMap(({ principal, threads }) =>
      threads.map((thread): [string, string] => [principal, thread]),
    )
  }

  /** What is to be written down of what is found in a thread from now on, if that is one that is deleted now and then. */
  deletesOf(principal: string, thread: string): { readonly deletes?: Deletes } {
    if (!this.fleeting[principal]?.includes(thread)) return {}
    return { deletes: this.recorder.deletesOf(threadName(principal, thread)) }
  }

  token(principal: string): string {
    const guest = this.#guests.find((each) => each.principal === principal)
    return this.#tokens[principal] ?? guest?.token ?? ''
  }

  /** A node to ask; waits for one if none is up. */
  async node(random: SeededRandom): Promise<ServedNode> {
    for (;;) {
      if (this.isOver) throw new Error('The round is over')
      const node = random.pick(this.nodes.filter(({ isUp }) => isUp))
      if (node) return node
      await pause(lookMs)
    }
  }
}
