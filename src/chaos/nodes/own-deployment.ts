import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { freeze, nodeFaults } from '../faults/node-faults.ts'
import { storeFaults } from '../faults/store-faults.ts'
import type { Recorder } from '../history/recorder.ts'
import { commonLines, type LineShape } from '../load/load-shape.ts'
import { administer } from '../postgres/administer.ts'
import type { Database } from '../postgres/database.ts'
import { StoreProxy } from '../postgres/store-proxy.ts'
import type { SeededRandom } from '../seeded-random.ts'
import type { Deployment } from './deployment.ts'
import { OwnNode } from './own-node.ts'
import { skewOptions } from './skew.ts'
import { StoreTroubles } from './store-troubles.ts'

export interface OwnDeploymentOptions {
  readonly recorder: Recorder
  readonly random: SeededRandom
  readonly leaseMs: number
  readonly nodeCount: number
  /** Where lines to nodes break. */
  readonly lines?: LineShape
  /** Where the store is, if not in a file of its own. */
  readonly database?: Database
  /** Modules that nodes load before anything else, as `node --import` does. */
  readonly preload?: readonly string[]
}

const tokens = {
  alice: 'alice-0123456789abcdef0123456789abcdef',
  bob: 'bob-fedcba9876543210fedcba9876543210',
}

// No client has it.
const strangerToken = 'mallory-00112233445566778899aabbccddeeff'

// Where a single node comes back at once there is nothing to wait for but load.
const sqliteRestMsMax = 1_500

/** Nodes of this program's own: one on a SQLite file, or several on PostgreSQL. */
export async function ownDeployment(options: OwnDeploymentOptions): Promise<Deployment> {
  const folder = await mkdtemp(join(tmpdir(), 'holdfast-chaos-'))
  return options.database ? onPostgres(options, options.database, folder) : onSqlite(options, folder)
}

function settings({ leaseMs, preload = [] }: OwnDeploymentOptions, folder: string, imports: readonly string[] = []) {
  const all = [...preload, ...imports].map((module) => `--import=${module}`)
  return {
    HOLDFAST_TOKENS: Object.entries({ ...tokens, mallory: strangerToken })
      .map(([principal, token]) => `${principal}=${token}`)
      .join(','),
    HOLDFAST_LEASE_MS: String(leaseMs),
    // Who ignores a cancel, and whoever drains, is over within a moment.
    HOLDFAST_GRACE_MS: '100',
    HOLDFAST_SHUTDOWN_MS: '300',
    XDG_STATE_HOME: folder,
    XDG_CONFIG_HOME: folder,
    NODE_OPTIONS: all.join(' '),
  }
}

function onSqlite(options: OwnDeploymentOptions, folder: string): Deployment {
  const { recorder, random, leaseMs, lines = commonLines } = options
  const store = { HOLDFAST_STORE: `sqlite:${join(folder, 'holdfast.db')}` }
  const env = () => ({ ...settings(options, folder), ...store })
  const node = new OwnNode({ name: 'node0', recorder, random, lines, env })
  const nodes = [node]
  return {
    nodes,
    tokens,
    leaseMs,
    strangerToken,
    mayPrune: true,
    restMsMax: sqliteRestMsMax,
    faults: nodeFaults({ nodes, recorder, leaseMs }),
    start: () => node.start(),
    async heal() {
      if (!node.isAlive) await node.start()
    },
    async close() {
      await node.close()
      await rm(folder, { recursive: true, force: true })
    },
  }
}

async function onPostgres(options: OwnDeploymentOptions, database: Database, folder: string): Promise<Deployment> {
  const { recorder, random, leaseMs, nodeCount } = options
  const schema = `chaos_${random.below(2 ** 31)}`
  const target = `${database.url}${database.url.includes('?') ? '&' : '?'}schema=${schema}`
  const stores: { node: OwnNode; proxy: StoreProxy }[] = []
  const troubles = new StoreTroubles()
  const common = { recorder, random, lines: options.lines ?? commonLines, troubles }
  for (let index = 0; index < nodeCount; index += 1) {
    const proxy = await StoreProxy.start(target)
    const name = `node${index}`
    const env = () => {
      const imports = skewOptions(random, recorder, name)
      return { ...settings(options, folder, imports), HOLDFAST_STORE: proxy.url }
    }
    stores.push({ node: new OwnNode({ ...common, name, env }), proxy })
  }
  const nodes = stores.map(({ node }) => node)
  const server = administer(database.url, schema)
  const ports = () => stores.flatMap(({ proxy }) => proxy.ports)
  const terminate = (random: SeededRandom) => server.terminate(ports(), random)
  const shared = { recorder, leaseMs }
  return {
    nodes,
    tokens,
    leaseMs,
    strangerToken,
    mayPrune: true,
    restMsMax: leaseMs,
    faults: [
      ...nodeFaults({ nodes, ...shared }),
      ...(nodeCount > 1 ? [freeze({ nodes, ...shared })] : []),
      ...storeFaults({ lines: stores, database, terminate, ...shared }).map((fault) => troubles.watched(fault)),
    ],
    async start() {
      await Promise.all(nodes.map((node) => node.start()))
    },
    async heal() {
      for (const { proxy } of stores) proxy.heal()
      await Promise.all(nodes.map((node) => (node.isAlive ? Promise.resolve() : node.start())))
    },
    async close() {
      await Promise.all(nodes.map((node) => node.close()))
      await Promise.all(stores.map(({ proxy }) => proxy.close()))
      await server.drop()
      await rm(folder, { recursive: true, force: true })
    },
  }
}
