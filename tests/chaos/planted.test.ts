import { describe, expect, it } from 'vitest'
import { plantedChaos } from '../../src/chaos/chaos.ts'
import { reportText } from '../../src/chaos/index.ts'
import { timeoutMs } from './held.ts'
import { plantedBugs, plantedModule } from './planted-build.ts'

// Each takes some seconds. A few of them show that real nodes are looked at; the others are run if they are asked for.
const bugs = process.env['HOLDFAST_TEST_PLANTED'] === 'all' ? plantedBugs : plantedBugs.slice(0, 2)

describe('chaos on nodes with a planted bug', { timeout: timeoutMs }, () => {
  it.each(bugs)('reports $title', async (bug) => {
    const enough = { faults: { kill: 1, drain: 1 }, cuts: 10, acknowledged: 200, ...bug.enough }
    const report = await plantedChaos({ seed: 5, store: 'sqlite:', enough, clients: 10 }, [plantedModule(bug)])
    expect(report.holds).toBe(false)
    const complaints = report.violations.map(({ promise, what }) => `${promise} ${what}`)
    expect(
      complaints.some((text) => bug.complaint.test(text)),
      reportText(report),
    ).toBe(true)
  })
})
