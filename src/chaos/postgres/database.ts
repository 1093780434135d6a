import { startServer } from './own-server.ts'

/** The PostgreSQL server that nodes share. */
export interface Database {
  readonly url: string
  /** As a power cut does, and back: no client hears a word. Undefined where the server is somebody else's. */
  readonly crash?: () => Promise<void>
  /** As an operator does. */
  readonly restart?: () => Promise<void>
  close(): Promise<void>
}

/** A server that somebody else runs. */
export function givenDatabase(url: string): Database {
  return { url, close: () => Promise.resolve() }
}

/** A server of this program's own. */
export async function ownDatabase(): Promise<Database> {
  const server = await startServer()
  return {
    url: server.url,
    async crash() {
      await server.crash()
      await server.start()
    },
    restart: () => server.restart(),
    close: () => server.stop(),
  }
}
