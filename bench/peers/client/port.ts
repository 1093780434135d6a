import type { Child } from '../../server/child.ts'
import type { WireRequest } from './wire.ts'

/** A run, as the driver asks for it. The agent of every peer understands it. */
export interface Work {
  readonly kind: 'emit' | 'hang' | 'park'
  readonly count?: number
  /** It emits once the driver opens the gate of this name. */
  readonly gate?: string
}

/** A run that was accepted: the id that the driver gave it, and what the peer answered. */
export interface Accepted {
  readonly id: string
  readonly answer: string
}

/** A peer, as its own wire protocol has it. What it leaves out, the peer does not have. */
export interface Port {
  /** In the last event of a run. */
  readonly lastMark: string
  /** In what ends a run that was cancelled; the end of the response is a sign of it too. */
  readonly cancelledMark?: string
  accept(id: string, work: Work): Promise<Accepted>
  /** Lets the runs emit that wait for this gate. */
  go(gate: string): Promise<unknown>
  /** Streams a run from its beginning, or from now on if this peer keeps nothing. */
  watch(run: Accepted): WireRequest
  /** Streams a finished run from its middle. */
  resume?(run: Accepted, count: number): WireRequest | Promise<WireRequest>
  cancel?(run: Accepted): WireRequest
  /** The shortest way to a first event: a stream that is open before the run is accepted, or a request that does both. */
  first(id: string): Promise<{ stream: WireRequest; afterwards?: WireRequest }>
}

/** Makes the port of a peer whose server has this URL and is this process. */
export type MakePort = (url: string, child: Child) => Port | Promise<Port>
