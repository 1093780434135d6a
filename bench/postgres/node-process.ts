// A node on PostgreSQL, for the benchmarks. Given: the URL of the store, `executes` or `serves`, slots, the lease in milliseconds.

import { setTimeout as sleep } from 'node:timers/promises'
import { type AgentContext, createRuntime, type Runtime, serve } from '../../src/index.ts'
import { answerParent } from '../server/child.ts'
import { sharedNow } from '../server/shared-clock.ts'
import { payload } from '../sqlite-load.ts'
import { Ends } from './ends.ts'
import { Pace } from './pace.ts'

interface Emitting {
  readonly count: number
  readonly everyMs?: number
}

/** Emits as fast as it may, or one event at a time that tells when it was emitted. */
async function emitter(ctx: AgentContext, { count, everyMs }: Emitting): Promise<void> {
  const pace = everyMs === undefined ? undefined : new Pace(everyMs)
  for (let n = 0; n < count; n++) {
    await pace?.next()
    await ctx.emit(payload.name, pace ? { sentAt: sharedNow() } : payload.payload)
  }
}

/** Takes a step now and then, and never ends. */
async function stepper(ctx: AgentContext): Promise<void> {
  for (;;) {
    await ctx.step('step', () => null)
    await sleep(50)
  }
}

/** Emits, and then stays: a live run with a long log. */
async function talker(ctx: AgentContext, { count }: Emitting): Promise<void> {
  for (let n = 0; n < count; n++) await ctx.say('word ')
  await ctx.emit('said')
  for (;;) {
    await ctx.receive()
    await ctx.say('tail')
  }
}

const [store = '', role, slots = '256', lease = '15000'] = process.argv.slice(2)
const runtime: Runtime = createRuntime({
  store,
  agents: role === 'executes' ? { emitter, stepper, talker, nothing: () => undefined } : {},
  concurrency: Number(slots),
  leaseMs: Number(lease),
  limits: { openTasksPerPrincipal: 1_000_000 },
})
await runtime.opened()
const server = await serve(runtime, { port: 0, tokens: { owner: 'bench' }, handlesSignals: false })
let ends: Ends | undefined
// Each node's callers are another principal's, so that the node that tells of its ends reads nothing of the others' work.
const own = runtime.as(`owner-${process.pid}`)

answerParent({
  url: () => server.url,
  cpuMs: () => {
    const { user, system } = process.cpuUsage()
    return (user + system) / 1000
  },
  /** So many callers, each with a thread of its own, have runs completed one after the other. */
  async complete({ name, callers, runs, agent, input }: Completing) {
    ends ??= await Ends.of(own)
    const all = ends
    await Promise.all(
      Array.from({ length: callers }, async (_, caller) => {
        for (let n = 0; n < runs; n++) {
          const { id } = await own.run({ thread: `${name}-${caller}`, agent, input })
          await all.of(id)
        }
      }),
    )
  },
})

interface Completing {
  readonly name: string
  readonly callers: number
  readonly runs: number
  readonly agent: string
  readonly input: Emitting
}
