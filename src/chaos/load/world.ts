import type { Recorder } from '../history/recorder.ts'
import type { ServedNode } from '../nodes/served-node.ts'
import { pause } from '../pause.ts'
import type { SeededRandom } from '../seeded-random.ts'

export interface WorldOptions {
  readonly recorder: Recorder
  readonly nodes: readonly ServedNode[]
  /** Tokens by principal. */
  readonly tokens: Readonly<Record<string, string>>
  /** Thread ids by principal. */
  readonly threads: Readonly<Record<string, readonly string[]>>
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

  constructor(options: WorldOptions) {
    this.recorder = options.recorder
    this.nodes = options.nodes
    this.threads = options.threads
    this.effect = options.effect
    this.timeoutMs = Math.max(2_000, 2 * options.leaseMs)
    this.#tokens = options.tokens
  }

  get principals(): string[] {
    return Object.keys(this.#tokens)
  }

  token(principal: string): string {
    return this.#tokens[principal] ?? ''
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
