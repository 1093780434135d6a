import { fileURLToPath } from 'node:url'
import { OwnedProcess } from './owned-process.ts'
import { makeFolder, type StartOptions, TestServer } from './server.ts'

/** What the test tells the clocked server to do, one at a time. */
export type ClockedOrder = { readonly do: 'advance'; readonly ms: number } | { readonly do: 'measure' }

/** What it answers. */
export interface ClockedReport {
  /** On the heap and beside it: after a collection of garbage, if it was told to measure. */
  readonly usedBytes: number
}

const program = fileURLToPath(new URL('../clocked-server-process.ts', import.meta.url))

/** A server whose streams live by a clock that the test moves. Tasks go by the clock of the machine. */
export class ClockedServer extends TestServer {
  #answer = Promise.withResolvers<ClockedReport>()

  static async open(options: StartOptions): Promise<ClockedServer> {
    const server = new ClockedServer(options, await makeFolder())
    await server.start()
    return server
  }

  async advance(ms: number): Promise<void> {
    await this.#order({ do: 'advance', ms })
  }

  /** Bytes in use. */
  async measure(): Promise<number> {
    return (await this.#order({ do: 'measure' })).usedBytes
  }

  protected override launch(env: Readonly<Record<string, string>>): OwnedProcess {
    const onMessage = (message: unknown) => this.#answer.resolve(message as ClockedReport)
    return new OwnedProcess({ arguments: ['--expose-gc', program], env, onMessage })
  }

  #order(order: ClockedOrder): Promise<ClockedReport> {
    this.#answer = Promise.withResolvers()
    this.process.send(order)
    return this.#answer.promise
  }
}
