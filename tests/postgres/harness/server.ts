export { type PostgresServer, startServer } from '../../../src/chaos/postgres/own-server.ts'
