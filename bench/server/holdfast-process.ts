// A Holdfast server on SQLite, for the benchmarks.

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises'
import { type AgentContext, createRuntime, serve } from '../../src/index.ts'
import { payload } from '../sqlite-load.ts'
import { answerParent } from './child.ts'
import { sharedNow } from './shared-clock.ts'

/** What an emitting run is asked for: so many events, at full speed or so many per second. */
interface Emitting {
  readonly count: number
  readonly perSecond?: number
}

async function emitter(ctx: AgentContext, { count, perSecond }: Emitting): Promise<void> {
  for (let n = 0; n < count; n++) {
    if (perSecond === undefined) await ctx.emit(payload.name, payload.payload)
    else {
      await ctx.emit(payload.name, { sentAt: sharedNow() })
      await sleep(1000 / perSecond)
    }
  }
}

async function speaker(ctx: AgentContext): Promise<void> {
  await ctx.say('hello')
}

async function parked(ctx: AgentContext): Promise<void> {
  await ctx.receive()
}

/** Takes a slot for good. */
function busy(ctx: AgentContext): Promise<void> {
  return new Promise((resolve) => ctx.signal.addEventListener('abort', () => resolve()))
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

const folder = mkdtempSync(join(tmpdir(), 'holdfast-bench-'))
process.on('exit', () => rmSync(folder, { recursive: true, force: true }))

const concurrency = Number(process.argv[2] ?? 256)
const runtime = createRuntime({
  store: `sqlite:${join(folder, 'holdfast.db')}`,
  agents: { emitter, speaker, parked, busy, talker, nothing: () => undefined },
  concurrency,
  limits: { openTasksPerPrincipal: 1_000_000 },
})
const server = await serve(runtime, { port: 0, tokens: { owner: 'bench' }, handlesSignals: false })

answerParent({
  url: () => server.url,
  async memory() {
    for (let i = 0; i < 3; i++) {
      await nextTurn()
      globalThis.gc?.()
    }
    return process.memoryUsage()
  },
})
