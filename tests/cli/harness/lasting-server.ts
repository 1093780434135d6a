import { onTestFinished } from 'vitest'
import { OwnedProcess } from '../../server/harness/owned-process.ts'
import { makeFolder, TestServer } from '../../server/harness/server.ts'
import { program } from './cli.ts'

/** A server that comes back on its port: with its data, or having forgotten everything. */
export class LastingServer extends TestServer {
  static async open(store: 'memory' | 'sqlite'): Promise<LastingServer> {
    const server = new LastingServer({ store }, await makeFolder())
    onTestFinished(() => server.end())
    await server.start()
    return server
  }

  /** While it is down, its port may be somebody else's for a moment. */
  override async start(): Promise<void> {
    for (let isTaken = true; isTaken; ) {
      isTaken = false
      await super.start().catch((error: unknown) => {
        isTaken = String(error).includes('Another program listens')
        if (!isTaken) throw error
      })
    }
  }

  protected override launch(env: Readonly<Record<string, string>>): OwnedProcess {
    const port = this.url === '' ? '0' : new URL(this.url).port
    return new OwnedProcess({ arguments: [program, 'serve', '--port', port], env })
  }
}
