import { afterAll, afterEach, beforeAll, describe, type TestContext } from 'vitest'
import { type StartOptions, type StoreKind, startServer, type TestServer } from './server.ts'

/** Those that are asked for, or the one database that the project is for. */
function kindsHere(kinds: readonly StoreKind[]): readonly StoreKind[] {
  return process.env['HOLDFAST_TEST_STORE'] === 'postgres' ? ['postgres'] : kinds
}

/**
 * On PostgreSQL a node goes on with what was left by one that was killed when its lease is over, and not at its start as where there
 * is only one.
 */
function killable(kind: StoreKind): Readonly<Record<string, string>> {
  return kind === 'postgres' ? { HOLDFAST_LEASE_MS: '2000' } : {}
}

type Start = (options?: Omit<StartOptions, 'store'>) => Promise<TestServer>

/** Registers the same tests once per store, each with servers of its own, which it may kill. */
export function onEachServer(kinds: readonly StoreKind[], register: (kind: StoreKind, start: Start) => void): void {
  for (const kind of kindsHere(kinds)) {
    describe(kind, () => {
      const started: TestServer[] = []
      afterEach(async (context) => {
        tellOnFailure(context, started)
        for (const server of started.splice(0)) await server.end()
      })
      register(kind, async (options = {}) => {
        const server = await startServer({ ...options, store: kind, env: { ...killable(kind), ...options.env } })
        started.push(server)
        return server
      })
    })
  }
}

/** Registers the same tests once per store, all of them on one server: each takes threads of its own. */
export function onSharedServer(
  kinds: readonly StoreKind[],
  register: (kind: StoreKind, server: () => TestServer) => void,
): void {
  for (const kind of kindsHere(kinds)) {
    describe(kind, () => {
      let server: TestServer | undefined
      beforeAll(async () => {
        server = await startServer({ store: kind })
      })
      afterEach((context) => tellOnFailure(context, server ? [server] : []))
      afterAll(() => server?.end())
      register(kind, () => {
        if (!server) throw new Error('A server is there while a test runs')
        return server
      })
    })
  }
}

// Enough to hold what went wrong in the last moments.
const linesTold = 20

/** Shows what the servers of a failed test have logged: over the wire it is not to be seen. */
export function tellOnFailure({ task }: Pick<TestContext, 'task'>, servers: readonly TestServer[]): void {
  if (task.result?.state !== 'fail') return
  for (const { stderr } of servers) console.error(stderr.slice(-linesTold).join('\n'))
}

let threadCount = 0

/** A thread that no other test of this file uses. */
export function freshThread(): string {
  threadCount += 1
  return `thread-${threadCount}`
}
