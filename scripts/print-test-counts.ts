// Prints one line with the counts of the last `npm test`.
import { existsSync, readFileSync } from 'node:fs'

const reportPath = '.vitest/report.json'

interface Counts {
  readonly numPassedTests: number
  readonly numFailedTests: number
  readonly numPendingTests: number
  readonly numTodoTests: number
}

console.log(existsSync(reportPath) ? countsOf(readFileSync(reportPath, 'utf8')) : 'tests: no report')

function countsOf(report: string): string {
  const counts = JSON.parse(report) as Counts
  const skipped = counts.numPendingTests + counts.numTodoTests
  return `tests: ${counts.numPassedTests} passed, ${counts.numFailedTests} failed, ${skipped} skipped`
}
