export { inspectStore, type StoreReport } from './inspect.ts'
export { migrateStore, nameOf, readStoreSchema } from './migrate.ts'
export { connectionsPerNode, type PostgresStoreOptions, postgresStore } from './postgres-store.ts'
