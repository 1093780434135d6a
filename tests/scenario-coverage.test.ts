import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { type Coverage, coverage, parseDue, parseScenarios, type TestResult } from '../scripts/scenario-coverage.ts'

const page = `
| id | stores | what holds |
|---|---|---|
| CANC-01 | each | a cancel says true |
| CANC-02 | durable | a cancel \`a | b\` survives |
| CANC-03 | once | statuses are five |
| CANC-04 | postgres | nodes agree |
`

function test(title: string, store?: string, status = 'passed'): TestResult {
  return { title, status, ancestorTitles: store === undefined ? ['a topic'] : ['a topic', store] }
}

function judge(tests: TestResult[], due = 'stores memory sqlite\nCANC-01..03'): Coverage {
  return coverage(parseScenarios(page), parseDue(due), tests)
}

function missing(tests: TestResult[]): string[] {
  return judge(tests).missing.map(({ scenario, on }) => [scenario.id, ...on].join(' '))
}

describe('the coverage of scenarios', () => {
  it('misses everything that is due when nothing carries it, and leaves the rest for later', () => {
    const { covered, later } = judge([])
    expect(missing([])).toEqual(['CANC-01 memory sqlite', 'CANC-02 sqlite', 'CANC-03'])
    expect(covered).toEqual([])
    expect(later.map(({ id }) => id)).toEqual(['CANC-04'])
  })

  it('asks for a passing test on each store that the scenario is shown on', () => {
    const rest = [test('CANC-02 x', 'sqlite'), test('CANC-03 x')]
    expect(missing([...rest, test('CANC-01 x', 'memory')])).toEqual(['CANC-01 sqlite'])
    expect(missing([...rest, test('CANC-01 x')])).toEqual(['CANC-01 memory sqlite'])
    expect(missing([...rest, test('CANC-01 x', 'memory'), test('CANC-01 y', 'sqlite')])).toEqual([])
  })

  it('counts neither a skipped test nor one that passed beside one that failed', () => {
    const rest = [test('CANC-01 x', 'memory'), test('CANC-01 x', 'sqlite'), test('CANC-02 x', 'sqlite')]
    expect(missing([...rest, test('CANC-03 x', undefined, 'skipped')])).toEqual(['CANC-03'])
    expect(missing([...rest, test('CANC-03 x'), test('CANC-03 y', undefined, 'failed')])).toEqual(['CANC-03'])
  })

  it('lets one test carry several ids', () => {
    expect(missing([test('CANC-01 CANC-02 x', 'memory'), test('CANC-01 CANC-02 x', 'sqlite')])).toEqual(['CANC-03'])
  })

  it('counts a scenario that is carried before it is due', () => {
    expect(judge([test('CANC-04 x', 'postgres')]).covered.map(({ id }) => id)).toEqual(['CANC-04'])
  })

  it('names ids that are not on the page', () => {
    const tests = [test('CANC-77 x', 'memory'), test('text is counted in UTF-16 units')]
    expect(judge(tests, 'stores memory\nCANC-88\nNONE-01').unknown).toEqual(['CANC-77', 'CANC-88', 'NONE-01'])
  })

  it('refuses a page or a list that it cannot read', () => {
    expect(() => parseScenarios(`${page}| CANC-01 | once | again |\n`)).toThrow('CANC-01 is on the page twice')
    expect(() => parseScenarios('| CANC-05 | all | x |')).toThrow('CANC-05 has "all"')
    expect(() => parseDue('stores memory\nCANC-1')).toThrow('neither an id nor a range')
    expect(() => parseDue('stores memory\nCANC-03..01')).toThrow('ends before it begins')
    expect(() => parseDue('CANC-01')).toThrow('has to name the stores')
  })

  it('reads the pages of the repository', () => {
    const scenarios = parseScenarios(readFileSync('docs/scenarios.md', 'utf8'))
    const due = parseDue(readFileSync('docs/scenarios-due.txt', 'utf8'))
    expect(scenarios).toHaveLength(117)
    expect(coverage(scenarios, due, []).unknown).toEqual([])
  })
})
