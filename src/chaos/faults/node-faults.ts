import { systemClock } from '../../runtime/clock.ts'
import type { Recorder } from '../history/recorder.ts'
import type { Fault } from '../nodes/deployment.ts'
import type { OwnNode } from '../nodes/own-node.ts'
import { pause } from '../pause.ts'
import type { SeededRandom } from '../seeded-random.ts'

export interface NodeFaultOptions {
  readonly nodes: readonly OwnNode[]
  readonly recorder: Recorder
  readonly leaseMs: number
}

// Longer than a process takes to open, mostly.
const openingMsMax = 1_000
// After so long whoever balances the load has noticed that a node does not answer.
const noticedMs = 150

/** What can be done to the processes of nodes. */
export function nodeFaults({ nodes, recorder, leaseMs }: NodeFaultOptions): Fault[] {
  const tell = (fault: string, node: OwnNode) => {
    recorder.write({ kind: 'fault', fault, node: node.name, at: systemClock.now() })
  }
  const on = (kind: string, weight: number, act: (node: OwnNode, random: SeededRandom) => Promise<void>): Fault => ({
    kind,
    to: 'node',
    weight,
    async inject(random) {
      const node = random.pick(nodes.filter(({ isUp }) => isUp))
      if (!node) return
      await act(node, random)
    },
  })
  return [
    on('kill', 6, async (node, random) => {
      tell('kill', node)
      await node.kill()
      // Others have the time to take over what it left, or not.
      if (nodes.length > 1 && random.chance(0.5)) await pause(random.below(2 * leaseMs))
      await node.start()
    }),
    on('kill opening', 1, async (node, random) => {
      tell('kill opening', node)
      await node.kill()
      await node.startAndKill(random.below(openingMsMax))
      await node.start()
    }),
    on('drain', 2, async (node) => {
      tell('drain', node)
      const code = await node.drain()
      recorder.write({ kind: 'drained', node: node.name, code, at: systemClock.now() })
      await node.start()
    }),
  ]
}

/** Frozen past its lease, so that others take over what it runs, and back as a zombie. Only where there are others. */
export function freeze({ nodes, recorder, leaseMs }: NodeFaultOptions): Fault {
  return {
    kind: 'freeze',
    to: 'node',
    weight: 3,
    async inject(random) {
      const node = random.pick(nodes.filter(({ isUp }) => isUp))
      if (!node) return
      recorder.write({ kind: 'fault', fault: 'freeze', node: node.name, at: systemClock.now() })
      node.freeze()
      await outlive(node, leaseMs, random)
      node.thaw()
      node.isUp = node.isAlive
    },
  }
}

/** Waits until the lease of a node that is frozen is over and others had the time to go on. */
export async function outlive(node: OwnNode, leaseMs: number, random: SeededRandom): Promise<void> {
  await pause(noticedMs)
  node.isUp = false
  await pause(leaseMs * (1.3 + random.next()))
}
