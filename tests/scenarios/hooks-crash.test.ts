import { expect, it } from 'vitest'
import type { AgentContext, OnEnded, Runtime } from '../../src/index.ts'
import type { Fault } from '../../src/testing/faulty-store.ts'
import { hearing } from './hearing.ts'
import { createWorld, type StoreKind, type World } from './world.ts'

const agents = {
  lead: async (ctx: AgentContext) => {
    await ctx.wait((await ctx.spawn({ agent: 'helper' })).id)
    return 'led'
  },
  helper: () => 'helped',
}

async function pass(here: World): Promise<void> {
  for (let second = 0; second < 4; second += 1) {
    await here.clock.advance(1000)
    await here.quiet()
  }
}

/** A run with a child, in a process that dies at a commit, and another that goes on. Says whether it died. */
async function tell(here: World, onEnded: OnEnded, at: number, fault: Fault): Promise<[Runtime, boolean]> {
  const first = await here.open({ agents, onEnded }, (_units, number) => (number === at ? fault : 'none'))
  // Whoever asked a process that died is never answered.
  void first.run({ thread: 't', agent: 'lead', prompt: 'go' }).catch(() => undefined)
  await pass(here)
  const hasDied = here.store.commitCount >= at
  await here.crash()
  const second = await here.open({ agents, onEnded })
  const { tasks } = await second.list({ thread: 't' })
  if (tasks.length === 0) await second.run({ thread: 't', agent: 'lead', prompt: 'go' })
  await pass(here)
  return [second, hasDied]
}

async function dieEverywhere(kind: StoreKind, fault: Fault): Promise<number> {
  for (let at = 1; ; at += 1) {
    const here = createWorld(kind)
    // The first call for each task fails, whichever process makes it.
    const failed = new Set<string>()
    const { told, onEnded } = hearing(({ id }) => {
      if (failed.has(id)) return
      failed.add(id)
      throw new Error('not now')
    })
    try {
      const [runtime, hasDied] = await tell(here, onEnded, at, fault)
      const { tasks } = await runtime.list({ thread: 't' })
      expect(tasks.map(({ status, hook }) => ({ status, hook }))).toEqual([
        { status: 'completed' },
        { status: 'completed' },
      ])
      for (const { id } of tasks) {
        const calls = told.filter((call) => call.id === id)
        expect(calls.length).toBeGreaterThanOrEqual(2)
        expect(new Set(calls.map(({ key }) => key)).size).toBe(1)
      }
      if (!hasDied) return at - 1
    } finally {
      await here.end()
    }
  }
}

it.each([
  ['memory', 'crash_before'],
  ['memory', 'crash_after'],
  ['sqlite', 'crash_before'],
  ['sqlite', 'crash_after'],
] as const)(
  'on %s onEnded is told of every end, with one key each, whichever commit a process dies at (%s)',
  async (kind, fault) => {
    expect(await dieEverywhere(kind, fault)).toBeGreaterThanOrEqual(6)
  },
  60_000,
)
