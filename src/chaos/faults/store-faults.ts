import { systemClock } from '../../runtime/clock.ts'
import type { Recorder } from '../history/recorder.ts'
import type { Fault } from '../nodes/deployment.ts'
import type { OwnNode } from '../nodes/own-node.ts'
import { pause, within } from '../pause.ts'
import type { Database } from '../postgres/database.ts'
import type { StoreProxy } from '../postgres/store-proxy.ts'
import type { SeededRandom } from '../seeded-random.ts'
import { outlive } from './node-faults.ts'

export interface StoreFaultOptions {
  /** Each node with the line to its store. */
  readonly lines: readonly { readonly node: OwnNode; readonly proxy: StoreProxy }[]
  readonly database: Database
  /** Ends connections of these nodes from within, and says how many. */
  readonly terminate: (random: SeededRandom) => Promise<number>
  readonly recorder: Recorder
  readonly leaseMs: number
}

const answersLostMax = 3
const holdAttemptsMax = 20

/** What can be done to PostgreSQL and the lines to it. */
export function storeFaults(options: StoreFaultOptions): Fault[] {
  const { database, recorder } = options
  const tell = (fault: string) => recorder.write({ kind: 'fault', fault, at: systemClock.now() })
  const whole = (kind: string, weight: number, act: (random: SeededRandom) => Promise<unknown>): Fault => ({
    kind,
    to: 'store',
    weight,
    async inject(random) {
      tell(kind)
      await act(random)
    },
  })
  const { crash, restart } = database
  return [
    terminated(options),
    ...(crash ? [whole('postgres kill', 2, crash)] : []),
    ...(restart ? [whole('postgres restart', 1, restart)] : []),
    ...lineFaults(options),
    heldCommit(options),
  ]
}

/** Connections that are ended from within. Where none was, nothing was done. */
function terminated({ terminate, recorder }: StoreFaultOptions): Fault {
  return {
    kind: 'terminate backends',
    to: 'store',
    weight: 3,
    async inject(random) {
      const at = systemClock.now()
      if ((await terminate(random)) > 0) recorder.write({ kind: 'fault', fault: 'terminate backends', at })
    },
  }
}

/** What can be done to the line between one node and PostgreSQL. */
function lineFaults({ lines, recorder, leaseMs }: StoreFaultOptions): Fault[] {
  const on = (
    kind: string,
    weight: number,
    act: (proxy: StoreProxy, random: SeededRandom) => Promise<void>,
  ): Fault => ({
    kind,
    to: 'store',
    weight,
    async inject(random) {
      const line = random.pick(lines)
      if (!line) return
      recorder.write({ kind: 'fault', fault: kind, node: line.node.name, at: systemClock.now() })
      await act(line.proxy, random)
      line.proxy.heal()
    },
  })
  return [
    on('cut', 3, (proxy) => {
      proxy.cut()
      return Promise.resolve()
    }),
    on('stall', 2, (proxy, random) => {
      proxy.stall()
      return pause(random.below(2 * leaseMs))
    }),
    on('lose answers', 4, (proxy, random) => {
      proxy.loseAnswers(1 + random.below(answersLostMax))
      return pause(random.below(leaseMs))
    }),
    on('drop notices', 2, (proxy, random) => {
      proxy.dropNotices()
      return pause(leaseMs + random.below(2 * leaseMs))
    }),
  ]
}

/**
 * A node is frozen while a commit of it is on its way, or amid its transaction. It arrives when the lease is over and others have
 * taken over, and the node wakes up to its answer.
 */
function heldCommit({ lines, recorder, leaseMs }: StoreFaultOptions): Fault {
  return {
    kind: 'freeze in commit',
    to: 'node',
    weight: 2,
    async inject(random) {
      const held = await someCommit(lines, leaseMs, random)
      if (!held) return
      const { node, deliver } = held
      node.freeze()
      recorder.write({ kind: 'fault', fault: 'freeze in commit', node: node.name, at: systemClock.now() })
      await outlive(node, leaseMs, random)
      deliver()
      await pause(random.below(leaseMs))
      node.thaw()
      node.isUp = node.isAlive
    },
  }
}

/** A commit of some node that is on its way and held there; undefined if nobody writes anything for long. */
async function someCommit(lines: StoreFaultOptions['lines'], leaseMs: number, random: SeededRandom) {
  for (let attempt = 0; attempt < holdAttemptsMax; attempt += 1) {
    const line = random.pick(lines.filter(({ node }) => node.isUp))
    if (!line) return undefined
    // Where the load waits for something else nothing may be written for a while.
    const deliver = await within(leaseMs, line.proxy.holdCommit(random.pick(['all', 'end'])), 'a commit').catch(
      () => undefined,
    )
    if (deliver) return { node: line.node, deliver }
    line.proxy.holdNoCommit()
  }
  return undefined
}
