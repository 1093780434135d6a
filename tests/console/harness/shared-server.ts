import { afterAll, beforeAll } from 'vitest'
import { type StartOptions, startServer, type TestServer } from '../../server/harness/server.ts'

/** Registers one server for all tests of a file; each test has threads of its own. */
export function withServer(options: Partial<StartOptions> = {}): () => TestServer {
  let server: TestServer | undefined
  beforeAll(async () => {
    server = await startServer({ store: 'memory', ...options })
  })
  afterAll(() => server?.end())
  return () => {
    if (!server) throw new Error('There is no server before the first test')
    return server
  }
}
