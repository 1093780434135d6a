import { expect } from 'vitest'
import { type ChaosReport, reportText } from '../../src/chaos/index.ts'

// A machine that is busy with other work takes several times as long as one that is not.
export const timeoutMs = 300_000

/** Prints what was put to the test, and fails with the seed and the witnesses if something was broken. */
export function expectHeld(report: ChaosReport): void {
  console.log(reportText(report))
  expect(report.violations, reportText(report)).toEqual([])
  // No loss out of no operations says nothing.
  expect(report.holds).toBe(true)
}
