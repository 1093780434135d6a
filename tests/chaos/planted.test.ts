import { describe, expect, it } from 'vitest'
import { chaos, reportText } from '../../src/chaos/index.ts'
import { plantedBugs, plantedModule } from './planted-build.ts'

// Each takes some seconds. A few of them show that real nodes are looked at; the others are run if they are asked for.
const bugs = process.env['HOLDFAST_TEST_PLANTED'] === 'all' ? plantedBugs : plantedBugs.slice(0, 2)

// A machine that is busy with other work takes several times as long as one that is not.
const timeoutMs = 300_000

describe('chaos on nodes with a planted bug', { timeout: timeoutMs }, () => {
  it.each(bugs)('reports $title', async (bug) => {
    const enough = { faults: { kill: bug.kills ?? 1, drain: 1 }, cuts: 10, acknowledged: 200 }
    const report = await chaos({ seed: 5, store: 'sqlite:', enough, preload: [plantedModule(bug)], clients: 10 })
    expect(report.holds).toBe(false)
    const complaints = report.violations.map(({ promise, what }) => `${promise} ${what}`)
    expect(
      complaints.some((text) => bug.complaint.test(text)),
      reportText(report),
    ).toBe(true)
  })
})
