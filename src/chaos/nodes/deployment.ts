import type { SeededRandom } from '../seeded-random.ts'
import type { ServedNode } from './served-node.ts'

/** Something that can be done to a deployment. It is over when the promise resolves; clients may not be over it by then. */
export interface Fault {
  readonly kind: string
  /** One fault of a kind at a time; what happens to nodes and what happens to their store go on side by side. */
  readonly to: 'node' | 'store'
  /** How often it is chosen, beside the others of its kind. */
  readonly weight: number
  inject(random: SeededRandom): Promise<void>
}

/** Nodes that are up together on one store. */
export interface Deployment {
  readonly nodes: readonly ServedNode[]
  readonly tokens: Readonly<Record<string, string>>
  readonly leaseMs: number
  /** The token of a principal that is no client: whoever attacks. Undefined for nodes that somebody else runs. */
  readonly strangerToken?: string
  /** Whether old events may be removed. Not where somebody else's are there too. */
  readonly mayPrune: boolean
  /** Between two faults of a kind it is left alone for at most this. */
  readonly restMsMax: number
  readonly faults: readonly Fault[]
  start(): Promise<void>
  /** Undoes what faults left: every node is up afterwards. */
  heal(): Promise<void>
  close(): Promise<void>
}
