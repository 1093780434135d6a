// Lists the scenarios that no passing test of the last `npm test` carries; fails if one of them is due.
import { existsSync, readFileSync } from 'node:fs'
import { coverage, parseDue, parseScenarios, type TestResult } from './scenario-coverage.ts'

const reportPath = '.vitest/report.json'

if (existsSync(reportPath)) {
  process.exitCode = printCoverage()
} else {
  console.error(`There is no ${reportPath}: run \`npm test\` first.`)
  process.exitCode = 1
}

function printCoverage(): number {
  const report = JSON.parse(readFileSync(reportPath, 'utf8')) as { testResults: TestFile[] }
  const scenarios = parseScenarios(readFileSync('docs/scenarios.md', 'utf8'))
  const due = parseDue(readFileSync('docs/scenarios-due.txt', 'utf8'))
  const tests = report.testResults.flatMap(testsOf)
  const { covered, missing, later, unknown } = coverage(scenarios, due, tests)

  for (const { scenario, on } of missing) {
    console.log(`missing  ${scenario.id}${on.length > 0 ? ` (${on.join(', ')})` : ''}  ${scenario.holds}`)
  }
  for (const id of unknown) console.log(`unknown  ${id}  is carried by a test or due, but not in docs/scenarios.md`)
  for (const scenario of later) console.log(`later    ${scenario.id}  ${scenario.holds}`)
  console.log(`scenarios: ${covered.length} covered, ${missing.length} missing, ${later.length} later`)
  return missing.length + unknown.length > 0 ? 1 : 0
}

interface TestFile {
  readonly name: string
  readonly assertionResults: readonly TestResult[]
}

/** The tests of tests/postgres need no title to say on which store they are. */
function testsOf({ name, assertionResults }: TestFile): readonly TestResult[] {
  if (!name.includes('/tests/postgres/')) return assertionResults
  return assertionResults.map((test) => ({ ...test, ancestorTitles: ['postgres', ...test.ancestorTitles] }))
}
