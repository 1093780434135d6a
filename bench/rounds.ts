/** How long one pass took, in milliseconds. Set-up and tear-down are not in it. */
export type Pass = () => Promise<number>

export interface Comparison {
  /** The median over the rounds of what ours took against the baseline in the same round; above 1 ours is faster. */
  readonly ratio: number
  readonly oursMs: number
  readonly baselineMs: number
}

/**
 * Runs both sides in turns and compares them round by round, because on a shared machine only what was measured at the
 * same time can be compared. The first round warms up and does not count.
 */
export async function compare(roundCount: number, baseline: Pass, ours: Pass): Promise<Comparison> {
  const rounds: { ratio: number; oursMs: number; baselineMs: number }[] = []
  for (let round = 0; round <= roundCount; round++) {
    const baselineMs = await baseline()
    const oursMs = await ours()
    if (round > 0) rounds.push({ ratio: baselineMs / oursMs, oursMs, baselineMs })
  }
  return {
    ratio: median(rounds.map((round) => round.ratio)),
    oursMs: median(rounds.map((round) => round.oursMs)),
    baselineMs: median(rounds.map((round) => round.baselineMs)),
  }
}

export async function timed(work: () => unknown): Promise<number> {
  const startedAt = performance.now()
  await work()
  return performance.now() - startedAt
}

export function median(values: readonly number[]): number {
  return quantile(values, 0.5)
}

export function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN
}

/** Calls `work` for 0, 1, … below `count`, all at once. */
export async function each(count: number, work: (n: number) => Promise<unknown>): Promise<void> {
  await Promise.all(Array.from({ length: count }, (_, n) => work(n)))
}
