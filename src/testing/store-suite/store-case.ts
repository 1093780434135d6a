import type { Store } from '../../stores/store.ts'

/** What a case of the store suite is given. A runner makes a new one for each case and closes its stores after it. */
export interface StoreFixture {
  /** An empty store, opened, whose clock is `clock`. */
  open(): Promise<Store>
  /** Closes the store and opens the same data again. Only asked of a durable store. */
  reopen(store: Store): Promise<Store>
  /** Stands still until a case moves it; it can be moved back. */
  readonly clock: { now(): number; advance(ms: number): void }
}

/** One promise of the store contract. It rejects if the store breaks it; any test runner can register it. */
export interface StoreCase {
  readonly title: string
  /** The case asks what a store holds after it was opened again: to be left out for one that is not durable. */
  readonly needsDurability?: true
  /** The case relies on no other node being alive: to be left out for a store that several nodes share. */
  readonly needsSoleNode?: true
  run(fixture: StoreFixture): Promise<void>
}

type Check = (store: Store, fixture: StoreFixture) => Promise<void>

export function storeCase(title: string, check: Check): StoreCase {
  return { title, run: async (fixture) => check(await fixture.open(), fixture) }
}

export function durableCase(title: string, check: Check): StoreCase {
  return { ...storeCase(title, check), needsDurability: true }
}

export function soleNodeCase(title: string, check: Check): StoreCase {
  return { ...durableCase(title, check), needsSoleNode: true }
}
