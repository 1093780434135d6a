import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { HistoryEntry } from '../../../src/chaos/history/entry.ts'
import { checkHistory } from '../../../src/chaos/index.ts'
import { deletedLines, forgottenPlants, prunedLines } from './forgotten-plants.ts'
import { keptPlants, keptSound } from './kept-plants.ts'
import { logPlants } from './log-plants.ts'
import { withTask } from './plant.ts'
import { linesOf, soundDraft } from './sound-history.ts'
import { givenUp, taskPlants } from './task-plants.ts'

// A checker that finds nothing proves nothing, unless it finds what is broken on purpose.

let folder: string

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'holdfast-planted-'))
})

afterAll(() => rm(folder, { recursive: true, force: true }))

async function complaintsOf(lines: readonly HistoryEntry[]): Promise<string[]> {
  const path = join(folder, 'history.ndjson')
  await writeFile(path, lines.map((line) => `${JSON.stringify(line)}\n`).join(''))
  const { violations } = await checkHistory(path)
  return violations.map(({ promise, what }) => `${promise} ${what}`)
}

describe('the checker of histories', () => {
  it('finds nothing in a history in which nothing is wrong', async () => {
    expect(await complaintsOf(linesOf(soundDraft()))).toEqual([])
  })

  it('finds nothing in threads that were deleted or pruned as they were asked to be', async () => {
    expect(await complaintsOf(deletedLines())).toEqual([])
    for (let keep = 1; keep <= 31; keep += 1) expect(await complaintsOf(prunedLines(keep))).toEqual([])
  })

  it('finds nothing in a task of which three processes died, two of them of one fault', async () => {
    expect(await complaintsOf(linesOf(givenUp('kill opening')))).toEqual([])
  })

  it.each(keptSound)('finds nothing in %s', async (_title, lines) => {
    expect(await complaintsOf(lines())).toEqual([])
  })

  it.each([...forgottenPlants, ...keptPlants])('finds %s', async (_title, complaint, plant) => {
    const complaints = await complaintsOf(plant())
    expect(
      complaints.some((text) => complaint.test(text)),
      complaints.join('\n') || 'nothing was found',
    ).toBe(true)
  })

  it.each([...logPlants, ...taskPlants])('finds %s', async (_title, complaint, plant) => {
    const complaints = await complaintsOf(linesOf(plant()))
    expect(
      complaints.some((text) => complaint.test(text)),
      complaints.join('\n') || 'nothing was found',
    ).toBe(true)
  })

  it('keeps rounds apart, and counts what each of them puts to the test', async () => {
    const path = join(folder, 'two-rounds.ndjson')
    const lines = [...linesOf(soundDraft()), ...linesOf(soundDraft())]
    await writeFile(path, lines.map((line) => `${JSON.stringify(line)}\n`).join(''))
    const { rounds, counts, violations, faults } = await checkHistory(path)
    expect({ rounds, violations, faults }).toEqual({ rounds: 2, violations: [], faults: { kill: 2 } })
    expect(counts).toMatchObject({ acknowledged: 20, cancelled: 4, cuts: 4, effects: 2, moved: 2 })
  })

  it('says with which lines it can be shown, the fewest first', async () => {
    const path = join(folder, 'history.ndjson')
    const draft = withTask('bg_2', () => ({ status: 'completed' }))
    await writeFile(
      path,
      linesOf(draft)
        .map((line) => `${JSON.stringify(line)}\n`)
        .join(''),
    )
    const { violations } = await checkHistory(path)
    const lost = violations.find(({ promise }) => promise === 'G7')
    expect(lost?.witness.join('\n')).toMatch(/"kind":"cancelled".*bg_2[\s\S]*task\.cancelling bg_2/)
    const sizes = violations.map(({ witness }) => witness.join('').length)
    expect(sizes).toEqual([...sizes].sort((one, two) => one - two))
  })
})
