/** Everything has a limit, so that no one caller can take what all share. All can be set. */
export interface Limits {
  /** What a task is given to work on. */
  readonly bodyBytes: number
  /** The data of one event: every watcher is sent it whole. */
  readonly eventBytes: number
  readonly resultBytes: number
  /** The value of one step. */
  readonly stepBytes: number
  readonly queuedRunsPerThread: number
  /** How many tasks are above each other in a tree, so that what spawns itself comes to an end. */
  readonly treeDepth: number
  /** Live ones, attached or not. */
  readonly childrenPerTask: number
  /** Questions that a task has asked and nobody has answered. */
  readonly openQuestionsPerTask: number
  /** Tasks that have not ended, over all threads. With several nodes it may be passed by what they accept within a second. */
  readonly openTasksPerPrincipal: number
  /**
   * How much code of one agent runs at once, over all nodes; an agent may state another. A task that waits does not count. With
   * several nodes it may be passed by what they start within a second, never by one node alone. There is none unless it is set.
   */
  readonly executingTasksPerAgent: number
  /**
   * What the live tasks of a thread were given to work on, and what steers them, all together; and as much again of messages that they
   * have not read, each with what stands around it: every decision about the thread has it at hand. What is given while nothing else
   * is there is held to `bodyBytes` only, and a message to `eventBytes`.
   */
  readonly liveInputBytesPerThread: number
  /** Of requests over a wire, which a server holds its callers to; a program that calls in process is not held to it. */
  readonly jsonDepth: number
  /** As `jsonDepth`, of a server. */
  readonly streamsPerPrincipal: number
}

const kib = 1024
const mib = 1024 * kib

export const defaultLimits: Limits = {
  bodyBytes: 1 * mib,
  eventBytes: 256 * kib,
  resultBytes: 8 * mib,
  stepBytes: 8 * mib,
  queuedRunsPerThread: 100,
  treeDepth: 8,
  childrenPerTask: 64,
  openQuestionsPerTask: 16,
  openTasksPerPrincipal: 20_000,
  // More than any number of nodes executes, so it is none, and nothing is counted for it.
  executingTasksPerAgent: 1_000_000,
  liveInputBytesPerThread: 32 * mib,
  jsonDepth: 64,
  streamsPerPrincipal: 12_000,
}
