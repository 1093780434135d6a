import { randomInt } from 'node:crypto'

/** Another one in every run, unless HOLDFAST_TEST_SEED says which: that of a run that failed is in its report. */
export const seed = Number(process.env['HOLDFAST_TEST_SEED'] ?? randomInt(1, 2 ** 31))

/** How often something is tried: HOLDFAST_TEST_FUZZ times as often as in an ordinary run. */
export function often(count: number): number {
  return Math.round(count * Number(process.env['HOLDFAST_TEST_FUZZ'] ?? 1))
}
