import type { PostgresServer } from '../../tests/postgres/harness/server.ts'
import { Child } from '../server/child.ts'
import { newStoreUrl } from './database.ts'

export interface NodeOptions {
  /** Whether it has agents; else it only serves. */
  readonly executes: boolean
  readonly slots?: number
  readonly leaseMs?: number
}

/** A node in a process of its own. */
export interface BenchNode {
  readonly child: Child
  readonly url: string
}

/** Starts nodes on one new store, or with a new store each, and ends them afterwards. */
export async function withNodes(
  server: PostgresServer,
  options: readonly NodeOptions[],
  work: (nodes: readonly BenchNode[]) => Promise<void>,
  stores: 'one store' | 'a store each' = 'one store',
): Promise<void> {
  const shared = newStoreUrl(server)
  const nodes: BenchNode[] = []
  try {
    for (const { executes, slots = 256, leaseMs = 15_000 } of options) {
      const role = executes ? 'executes' : 'serves'
      const store = stores === 'one store' ? shared : newStoreUrl(server)
      const child = new Child('../postgres/node-process.ts', [store, role, String(slots), String(leaseMs)])
      nodes.push({ child, url: await child.ask<string>('url') })
    }
    await work(nodes)
  } finally {
    await Promise.all(nodes.map(({ child }) => child.end()))
  }
}
