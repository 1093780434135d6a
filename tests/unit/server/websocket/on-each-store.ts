import { afterEach } from 'vitest'
import type { Agents, Runtime } from '../../../../src/index.ts'
import { scriptAgent } from '../../../../src/index.ts'
import { onEachStore, type StoreKind, type World } from '../../../scenarios/world.ts'
import { Sockets, type SocketsOptions } from './sockets-world.ts'

export interface Served {
  readonly world: World
  readonly runtime: Runtime
  readonly sockets: Sockets
}

export type Serve = (options?: SocketsOptions & { readonly agents?: Agents }) => Promise<Served>

/** Registers the same tests once per store, each with a way to serve a runtime on it. */
export function servedOnEachStore(
  kinds: readonly StoreKind[],
  register: (serve: Serve, kind: StoreKind) => void,
): void {
  onEachStore(kinds, (kind, world) => {
    const open: Sockets[] = []
    afterEach(async () => {
      for (const sockets of open.splice(0)) await sockets.close()
    })
    register(async ({ agents = {}, ...options } = {}) => {
      const here = world()
      const runtime = await here.open({ agents: { script: scriptAgent(), ...agents } })
      const sockets = await Sockets.open(here, runtime, options)
      open.push(sockets)
      return { world: here, runtime, sockets }
    }, kind)
  })
}
