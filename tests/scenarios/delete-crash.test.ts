import { expect, it } from 'vitest'
import type { AgentContext, Runtime } from '../../src/index.ts'
import type { Fault } from '../../src/testing/faulty-store.ts'
import { heldAgent } from './held-agent.ts'
import { inQuietTime } from './quiet-time.ts'
import { createWorld, logOf, type StoreKind, type World } from './world.ts'

const thread = 't'
const crashTestMs = 60_000

/** A run that has an attached and a detached child and is parked, with another one behind it in the queue. */
async function begin(here: World, runtime: Runtime): Promise<string[]> {
  await runtime.run({ thread, agent: 'family', prompt: 'go' })
  await here.quiet()
  await runtime.run({ thread, agent: 'family', prompt: 'queued' })
  const { tasks } = await runtime.list({ thread })
  expect(tasks.map((task) => task.status)).toEqual(['pending', 'running', 'running', 'running'])
  return tasks.map((task) => task.id)
}

function agents() {
  const family = async (ctx: AgentContext) => {
    await ctx.spawn({ agent: 'held', prompt: 'attached' })
    await ctx.spawn({ agent: 'held', prompt: 'detached', detached: true })
    await ctx.say('waits')
    return ctx.sleep(1_000_000)
  }
  return { family, held: heldAgent() }
}

/** What a crash left: nothing was asked yet, all that lived was told to end, or all is gone. */
async function leftBehind(runtime: Runtime): Promise<'untouched' | 'cancelled' | 'erased'> {
  const { head, first, tasks, messages } = await runtime.thread(thread)
  if (first > 1) {
    expect({ first, tasks, messages }).toEqual({ first: head + 1, tasks: [], messages: [] })
    return 'erased'
  }
  const log = await logOf(runtime, thread)
  expect(log.map((event) => event.seq)).toEqual(log.map((_, n) => n + 1))
  expect(tasks.length).toBe(4)
  const asked = tasks.filter((task) => task.status === 'cancelled' || task.cancelRequestedAt !== undefined)
  if (asked.length === 0) return 'untouched'
  expect(asked.length).toBe(4)
  return 'cancelled'
}

/** Dies at the n-th commit of a delete; undefined if there was none. */
async function deleteAndDie(kind: StoreKind, nth: number, fault: Fault): Promise<string | undefined> {
  const here = createWorld(kind)
  try {
    const runtime = await here.open({ agents: agents() })
    const ids = await begin(here, runtime)
    const commitsBefore = here.store.commitCount
    here.store.plan((_units, number) => (number === commitsBefore + nth ? fault : 'none'))
    const deleting = runtime.deleteThread(thread).then(() => 'deleted' as const)
    const outcome = await inQuietTime(
      here,
      Promise.race([deleting, here.store.crashed.then(() => 'died' as const)]),
      500,
    )
    if (outcome === 'deleted') return undefined
    await here.crash()
    const next = await here.open({ agents: agents() })
    const left = await leftBehind(next)
    await inQuietTime(here, next.deleteThread(thread), 500)
    expect(await leftBehind(next)).toBe('erased')
    for (const id of ids) expect(await next.get(id)).toBeUndefined()
    return left
  } finally {
    await here.end()
  }
}

for (const kind of ['memory', 'sqlite'] as const) {
  it(
    `a crash at any commit of a delete leaves the thread whole, all cancelled, or erased, never half (${kind})`,
    async () => {
      const left: string[] = []
      for (const fault of ['crash_before', 'crash_after'] as const) {
        for (let nth = 1; ; nth += 1) {
          const found = await deleteAndDie(kind, nth, fault)
          if (found === undefined) break
          left.push(`${fault} ${found}`)
        }
      }
      expect(left[0]).toBe('crash_before untouched')
      expect(left.at(-1)).toBe('crash_after erased')
      expect(left.filter((found) => found === 'crash_before cancelled').length).toBeGreaterThan(0)
      expect(left.filter((found) => found === 'crash_after cancelled').length).toBeGreaterThan(0)
    },
    crashTestMs,
  )
}
