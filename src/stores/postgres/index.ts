export { inspectStore, type StoreReport } from './inspect.ts'
export { migrateStore, nameOf, readStoreSchema } from './migrate.ts'
export { type PostgresStoreOptions, postgresStore } from './postgres-store.ts'
export { connectionsPerNode } from './store-connections.ts'
