import type { SeededRandom } from '../seeded-random.ts'
import { CuttingProxy } from './cutting-proxy.ts'
import type { Deployment } from './deployment.ts'
import type { ServedNode } from './served-node.ts'

export interface ForeignOptions {
  readonly urls: readonly string[]
  readonly tokens: Readonly<Record<string, string>>
  readonly leaseMs: number
  readonly random: SeededRandom
}

const bytesMax = 40_000

/** Nodes that somebody else runs: nothing is done to them, only lines to them are cut. */
export async function foreignDeployment({ urls, tokens, leaseMs, random }: ForeignOptions): Promise<Deployment> {
  const proxies: CuttingProxy[] = []
  const nodes: ServedNode[] = []
  for (const [index, text] of urls.entries()) {
    const url = new URL(text).origin
    const { port, hostname, protocol } = new URL(text)
    // A line that carries TLS can be cut as well, but its certificate is not for the proxy's address.
    const isPlain = protocol === 'http:'
    const proxy = isPlain
      ? await CuttingProxy.start(
          () => Number(port || 80),
          () => random.below(bytesMax),
          hostname,
        )
      : undefined
    if (proxy) proxies.push(proxy)
    nodes.push({ name: `node${index}`, url, breakingUrl: proxy?.url ?? url, isUp: true, life: 1 })
  }
  return {
    nodes,
    tokens,
    leaseMs,
    mayPrune: false,
    restMsMax: leaseMs,
    faults: [],
    start: () => Promise.resolve(),
    heal: () => Promise.resolve(),
    async close() {
      await Promise.all(proxies.map((proxy) => proxy.close()))
    },
  }
}
