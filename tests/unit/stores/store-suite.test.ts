import { describe, it } from 'vitest'
import { storeCases } from '../../../src/testing/store-suite/index.ts'
import { isFor, storeFixture, storeTable } from './store-table.ts'

describe.each(storeTable)('the $name store', (row) => {
  const cases = storeCases.filter((storeCase) => isFor(row, storeCase))

  for (const storeCase of cases) {
    it(storeCase.title, async () => {
      const fixture = storeFixture(row)
      try {
        await storeCase.run(fixture)
      } finally {
        await fixture.dispose()
      }
    })
  }
})
