export { type Fault, type FaultyStore, faultyStore } from './faulty-store.ts'
export { type ManualClock, manualClock } from './manual-clock.ts'
export { type StoreCase, type StoreFixture, storeCases } from './store-suite/index.ts'
