import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { memoryStore } from '../../../src/stores/memory/index.ts'
import { postgresStore } from '../../../src/stores/postgres/index.ts'
import { sqliteStore } from '../../../src/stores/sqlite/index.ts'
import { type SqliteStoreOptions, sqliteStoreWith } from '../../../src/stores/sqlite/sqlite-store.ts'
import type { Store } from '../../../src/stores/store.ts'
import type { StoreCase, StoreFixture } from '../../../src/testing/store-suite/index.ts'
import { testSchema } from '../../postgres/harness/schema.ts'
import { TurnsRule } from './turns-rule.ts'

type FixtureClock = StoreFixture['clock']

/** Where one store keeps its data, and how it is reached there. */
interface StorePlace {
  store(clock: FixtureClock): Store
  remove(): Promise<void>
}

export interface StoreRow {
  readonly name: string
  readonly isDurable: boolean
  /** Several nodes may have it open. */
  readonly isShared: boolean
  place(): Promise<StorePlace>
}

export const memoryRow: StoreRow = {
  name: 'memory',
  isDurable: false,
  isShared: false,
  place: async () => ({ store: (clock) => memoryStore({ clock }), remove: async () => {} }),
}

const sqliteRow: StoreRow = {
  name: 'sqlite',
  isDurable: true,
  isShared: false,
  place: () => sqlitePlace(sqliteStore),
}

async function sqlitePlace(make: (options: SqliteStoreOptions) => Store): Promise<StorePlace> {
  const folder = await mkdtemp(join(tmpdir(), 'holdfast-'))
  return {
    store: (clock) => make({ path: join(folder, 'store.db'), clock }),
    remove: () => rm(folder, { recursive: true, force: true }),
  }
}

/** Which of its two writers commits a batch is not left to how quick the disk is. */
const byTurnsRow: StoreRow = {
  ...sqliteRow,
  name: 'sqlite, by turns',
  place: () => sqlitePlace((options) => sqliteStoreWith(options, () => new TurnsRule())),
}

const postgresRow: StoreRow = {
  name: 'postgres',
  isDurable: true,
  isShared: true,
  place: async () => {
    const schema = testSchema()
    return { store: (clock) => postgresStore({ url: schema.url, clock }), remove: () => schema.drop() }
  },
}

/** The backends that the suite and the properties are checked for: those that need no server, or the one that does. */
export const storeTable: readonly StoreRow[] =
  process.env['HOLDFAST_TEST_STORE'] === 'postgres' ? [postgresRow] : [memoryRow, sqliteRow, byTurnsRow]

/** Whether a case asks no more of a store than it promises. */
export function isFor(row: StoreRow, storeCase: StoreCase): boolean {
  if (storeCase.needsDurability && !row.isDurable) return false
  return !(storeCase.needsSoleNode && row.isShared)
}

export interface DisposableFixture extends StoreFixture {
  dispose(): Promise<void>
}

export function storeFixture(row: StoreRow): DisposableFixture {
  const clock = movableClock()
  const places = new Map<Store, StorePlace>()
  const openAt = async (place: StorePlace): Promise<Store> => {
    const store = place.store(clock)
    places.set(store, place)
    await store.open()
    return store
  }
  return {
    clock,
    open: async () => openAt(await row.place()),
    async reopen(store) {
      const place = places.get(store)
      if (!row.isDurable || !place) throw new Error(`The ${row.name} store cannot be opened again`)
      await store.close()
      return openAt(place)
    },
    async dispose() {
      for (const [store, place] of places) {
        await store.close()
        await place.remove()
      }
    },
  }
}

function movableClock(): FixtureClock {
  let now = 1_800_000_000_000
  return {
    now: () => now,
    advance(ms) {
      now += ms
    },
  }
}
