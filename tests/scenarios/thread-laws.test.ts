import fc from 'fast-check'
import { it } from 'vitest'
import { actions, perform } from './random-actions.ts'
import { expectLaws } from './thread-laws.ts'
import { createWorld, onEachStore } from './world.ts'

// A run of the property takes some milliseconds in memory, and fifty times as long where each start opens a database.
const runCounts = { memory: 200, sqlite: 12, postgres: 5 }

onEachStore(['memory', 'sqlite'], (kind) => {
  it('EVNT-05 whatever happens to a thread, its log folds to its records, and nothing follows an end', async () => {
    await fc.assert(
      fc.asyncProperty(actions, async (planned) => {
        const here = createWorld(kind)
        try {
          await perform(here, planned, (runtime) => expectLaws(runtime, 't'))
        } finally {
          await here.end()
        }
      }),
      { numRuns: runCounts[kind] },
    )
  }, 60_000)
})
