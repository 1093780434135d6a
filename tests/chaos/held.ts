import { expect } from 'vitest'
import { type ChaosReport, reportText } from '../../src/chaos/index.ts'

/** Prints what was put to the test, and fails with the seed and the witnesses if something was broken. */
export function expectHeld(report: ChaosReport): void {
  console.log(reportText(report))
  expect(report.violations, reportText(report)).toEqual([])
  // No loss out of no operations says nothing.
  expect(report.holds).toBe(true)
}
