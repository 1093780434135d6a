export { type BackUp, type BackUpOptions, backUp } from './backup.ts'
export { inspectStore, type StoreReport } from './inspect.ts'
export { migrateStore, readStoreSchema } from './migrate.ts'
export { type SqliteStoreOptions, sqliteStore } from './sqlite-store.ts'
