import { fileURLToPath } from 'node:url'
import { afterEach, describe } from 'vitest'
import { tellOnFailure } from './on-each-server.ts'
import { OwnedProcess } from './owned-process.ts'
import { makeFolder, type StoreKind, TestServer } from './server.ts'

/** What the test tells the gated server to do. */
export type Order =
  | { readonly do: 'hold'; readonly operation: string }
  | { readonly do: 'release' }
  | { readonly do: 'follow'; readonly prompt: string }
  | { readonly do: 'finish'; readonly prompt: string }

/** What the gated server tells the test. */
export type Report =
  | { readonly is: 'reached'; readonly operation: string }
  | { readonly is: 'atWork'; readonly prompt: string }

const program = fileURLToPath(new URL('../gated-server-process.ts', import.meta.url))

/** A server that stops where the test wants it to: before a commit, or inside an agent. */
export class GatedServer extends TestServer {
  readonly #waiting = new Map<string, PromiseWithResolvers<void>>()

  /** Keeps commits with this operation back, from now on. */
  hold(operation: string): { readonly reached: Promise<void>; release(): void } {
    const reached = this.#expect(`reached ${operation}`)
    this.process.send({ do: 'hold', operation } satisfies Order)
    return { reached, release: () => this.process.send({ do: 'release' } satisfies Order) }
  }

  /** Resolves when the run of agent `held` with this prompt is at work, having said nothing. */
  atWork(prompt: string): Promise<void> {
    const started = this.#expect(`at work ${prompt}`)
    this.process.send({ do: 'follow', prompt } satisfies Order)
    return started
  }

  /** Lets the run of this prompt end with the result `did PROMPT`. */
  finish(prompt: string): void {
    this.process.send({ do: 'finish', prompt } satisfies Order)
  }

  protected override launch(env: Readonly<Record<string, string>>): OwnedProcess {
    const onMessage = (message: unknown) => this.#hear(message as Report)
    return new OwnedProcess({ arguments: [program], env, onMessage })
  }

  #hear(report: Report): void {
    const heard = report.is === 'reached' ? `reached ${report.operation}` : `at work ${report.prompt}`
    this.#waiting.get(heard)?.resolve()
  }

  #expect(report: string): Promise<void> {
    const waiting = Promise.withResolvers<void>()
    this.#waiting.set(report, waiting)
    return waiting.promise
  }
}

type Start = (env?: Readonly<Record<string, string>>) => Promise<GatedServer>

/** As `onEachServer`, with gated servers. */
export function onEachGatedServer(kinds: readonly StoreKind[], register: (start: Start) => void): void {
  for (const kind of kinds) {
    describe(kind, () => {
      const started: GatedServer[] = []
      afterEach(async (context) => {
        tellOnFailure(context, started)
        for (const server of started.splice(0)) await server.end()
      })
      register(async (env = {}) => {
        const server = new GatedServer({ store: kind, env }, await makeFolder())
        started.push(server)
        await server.start()
        return server
      })
    })
  }
}
