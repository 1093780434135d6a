import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { memoryStore } from '../../../src/stores/memory/index.ts'
import { sqliteStore } from '../../../src/stores/sqlite/index.ts'
import type { Store } from '../../../src/stores/store.ts'
import type { StoreFixture } from '../../../src/testing/store-suite/index.ts'

type FixtureClock = StoreFixture['clock']

/** Where one store keeps its data, and how it is reached there. */
interface StorePlace {
  store(clock: FixtureClock): Store
  remove(): Promise<void>
}

export interface StoreRow {
  readonly name: string
  readonly isDurable: boolean
  place(): Promise<StorePlace>
}

/** Every backend that the suite and the properties are checked for. */
export const storeTable: readonly StoreRow[] = [
  {
    name: 'memory',
    isDurable: false,
    place: async () => ({ store: (clock) => memoryStore({ clock }), remove: async () => {} }),
  },
  {
    name: 'sqlite',
    isDurable: true,
    place: async () => {
      const folder = await mkdtemp(join(tmpdir(), 'holdfast-'))
      return {
        store: (clock) => sqliteStore({ path: join(folder, 'store.db'), clock }),
        remove: () => rm(folder, { recursive: true, force: true }),
      }
    },
  },
]

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
