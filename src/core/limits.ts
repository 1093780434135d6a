/** Everything has a limit, so that no one caller can take what all share. All can be set. */
export interface Limits {
  readonly bodyBytes: number
  readonly eventBytes: number
  readonly resultBytes: number
  readonly stepBytes: number
  readonly jsonDepth: number
  readonly queuedRunsPerThread: number
  readonly openTasksPerPrincipal: number
  readonly treeDepth: number
  readonly childrenPerTask: number
  readonly streamsPerPrincipal: number
}

const kib = 1024
const mib = 1024 * kib

export const defaultLimits: Limits = {
  bodyBytes: 1 * mib,
  eventBytes: 256 * kib,
  resultBytes: 8 * mib,
  stepBytes: 8 * mib,
  jsonDepth: 64,
  queuedRunsPerThread: 100,
  openTasksPerPrincipal: 20_000,
  treeDepth: 8,
  childrenPerTask: 64,
  streamsPerPrincipal: 12_000,
}
