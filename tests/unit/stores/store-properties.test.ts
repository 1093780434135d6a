import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { principalOf, threadOf } from '../../../src/core/id.ts'
import type { Unit, Verdict } from '../../../src/core/unit.ts'
import type { Store } from '../../../src/stores/store.ts'
import { logOf, numbersOf, upTo } from '../../../src/testing/store-suite/builders.ts'
import { batches, type Intention, keys, UnitMaker } from './random-units.ts'
import { StoreModel } from './store-model.ts'
import { pictureOf } from './store-picture.ts'
import { memoryRow, type StoreRow, storeFixture, storeTable } from './store-table.ts'

interface Batch {
  readonly moveMs: number
  readonly units: readonly Intention[]
}

/** Feeds a store with batches, checks every verdict against the model, and gives back the model as it then is. */
async function follow(store: Store, history: readonly Batch[], move: (ms: number) => void): Promise<StoreModel> {
  const maker = new UnitMaker()
  let model = new StoreModel()
  for (const { moveMs, units: wanted } of history) {
    move(moveMs)
    const before = model.copy()
    const { units, verdicts } = expected(wanted, model, maker, store.clock.now())
    if (verdicts) {
      expect(await store.commit(units)).toEqual(verdicts)
      continue
    }
    const picture = await pictureOf(store, keys)
    await expect(store.commit(units)).rejects.toThrow()
    expect(await pictureOf(store, keys)).toEqual(picture)
    model = before
  }
  return model
}

interface Expected {
  readonly units: Unit[]
  readonly verdicts: Verdict[] | undefined
}

/** Each unit is made in the light of those before it in the batch; the model then judges the batch as a whole. */
function expected(wanted: readonly Intention[], model: StoreModel, maker: UnitMaker, now: number): Expected {
  const units: Unit[] = []
  let ahead = model.copy()
  for (const intention of wanted) {
    units.push(maker.make(intention, ahead))
    ahead = model.copy()
    if (!ahead.commit(units, now)) break
  }
  return { units, verdicts: model.commit(units, now) }
}

describe.each(storeTable)('the $name store, whatever it is asked', (row) => {
  // A durable store is dear to make, so it gets fewer histories, each as long as the others.
  const numRuns = row.isDurable ? 25 : 300

  it('gives the verdicts of the model, writes a batch whole or not at all, and holds what memory holds', async () => {
    const property = fc.asyncProperty(batches, async (history) => {
      const picture = await pictureAfter(row, history)
      if (row !== memoryRow) expect(picture).toEqual(await pictureAfter(memoryRow, history))
    })
    await fc.assert(property, { numRuns })
  })
})

async function pictureAfter(row: StoreRow, history: readonly Batch[]): Promise<unknown> {
  const fixture = storeFixture(row)
  try {
    const store = await fixture.open()
    await store.renew('node_0', 1000)
    await agree(store, await follow(store, history, fixture.clock.advance))
    return await pictureOf(store, keys)
  } finally {
    await fixture.dispose()
  }
}

async function agree(store: Store, model: StoreModel): Promise<void> {
  for (const key of keys) {
    const { log, rev, erasedCount } = model.thread(key)
    const events = await logOf(store, key, 7)
    expect(numbersOf(events)).toEqual(upTo(log.length).map((n) => erasedCount + n))
    expect(events.map((event) => event.data)).toEqual(log)
    expect((await store.livePart(key))?.rev ?? 0).toBe(rev)
    const instants = events.map((event) => event.at)
    expect(instants).toEqual(instants.toSorted((a, b) => a - b))
  }
  await expectNoOther(store, model)
  for (const [id, record] of model.tasks) {
    const { status, epoch, taken } = record
    expect(await store.task(id)).toMatchObject({ status, epoch, taken })
  }
}

/** What is listed is what the model holds: nothing that was erased. */
async function expectNoOther(store: Store, model: StoreModel): Promise<void> {
  for (const principal of new Set(keys.map(principalOf))) {
    const { tasks } = await store.tasks({ principal, limit: 1000 })
    const held = [...model.tasks.values()].filter(({ key }) => principalOf(key) === principal)
    expect(tasks.map(({ id }) => id).sort()).toEqual(held.map(({ id }) => id).sort())
    const { threads } = await store.threads({ principal, limit: 10 })
    const used = keys.filter((key) => principalOf(key) === principal && model.thread(key).log.length > 0)
    expect(threads.map(({ thread }) => thread).sort()).toEqual(used.map(threadOf).sort())
  }
}
