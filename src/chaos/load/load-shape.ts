/** What a client does at a time. */
export type Act =
  | 'run'
  | 'spawn'
  | 'steer'
  | 'cancelOne'
  | 'cancelThread'
  | 'send'
  | 'answer'
  | 'collect'
  | 'read'
  | 'repeat'
  | 'probe'
  | 'fleeting'
  | 'deleteThread'
  | 'prune'

/** What clients and readers of a round do, and how many of them there are. */
export interface LoadShape {
  readonly clients: number
  /** Threads of the first principal, and of each other one. */
  readonly threads: { readonly first: number; readonly others: number }
  /** Readers of each thread over each transport. */
  readonly readers: number
  /** How often each act is chosen, beside the others. */
  readonly weights: Readonly<Record<Act, number>>
  /** Of everything that there is, or of what is over within a moment. */
  readonly scripts: 'mixed' | 'brief'
  /** The share of its tasks that a client follows to the end. What became of the others is read when the round is over. */
  readonly followed: number
  /** The share of streams that go over a line that breaks, and of those that begin before what the reader has. */
  readonly breaking: number
  readonly rewinding: number
}

/** Where a line breaks: after fewer bytes than this, `short` of them in `shortShare` of all cases and else `long`. */
export interface LineShape {
  readonly short: number
  readonly long: number
  readonly shortShare: number
}

/** Half of the connections break within their first answers or events, the others after some hundred. */
export const commonLines: LineShape = { short: 2_000, long: 40_000, shortShare: 0.5 }

/** Everything that clients can ask for. */
export const mixedLoad: LoadShape = {
  clients: 8,
  threads: { first: 3, others: 2 },
  readers: 1,
  weights: {
    run: 8,
    spawn: 5,
    steer: 4,
    cancelOne: 20,
    cancelThread: 1,
    send: 12,
    answer: 15,
    collect: 4,
    read: 2,
    repeat: 3,
    probe: 3,
    fleeting: 3,
    deleteThread: 0.5,
    prune: 0.5,
  },
  scripts: 'mixed',
  followed: 1,
  breaking: 0.7,
  rewinding: 0.5,
}

/** Cancels above all, of tasks that cost little. */
export const cancelLoad: LoadShape = {
  ...mixedLoad,
  clients: 24,
  threads: { first: 8, others: 8 },
  weights: { ...mixedLoad.weights, cancelOne: 150, cancelThread: 3, deleteThread: 0.2, prune: 0.2 },
  scripts: 'brief',
  followed: 0.15,
}

/** Readers above all, each of whose lines breaks soon. */
export const cutLoad: LoadShape = {
  ...mixedLoad,
  clients: 6,
  threads: { first: 4, others: 4 },
  readers: 2,
  weights: { ...mixedLoad.weights, cancelOne: 6, deleteThread: 0.2, prune: 0.2 },
  breaking: 1,
  rewinding: 0.85,
}

/** The lines of `cutLoad`. */
export const shortLines: LineShape = { short: 2_000, long: 12_000, shortShare: 0.7 }

/** A few clients who see whether others go on as ever. */
export const lightLoad: LoadShape = { ...mixedLoad, clients: 3, threads: { first: 1, others: 1 } }
