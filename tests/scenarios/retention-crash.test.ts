import { expect, it } from 'vitest'
import type { PruneOptions, Runtime } from '../../src/index.ts'
import type { Fault } from '../../src/testing/faulty-store.ts'
import { answered, echo, keptOf } from './pruned.ts'
import { createWorld, type StoreKind } from './world.ts'

const names = ['a', 'b']
const promptCount = 4
const crashTestMs = 60_000

async function begin(runtime: Runtime): Promise<void> {
  for (const name of names) for (let n = 0; n < promptCount; n++) await answered(runtime, name, `${n}`)
}

/** What is left of a thread: all that it held but a front of its log, or nothing. */
async function leftOf(runtime: Runtime, name: string): Promise<'whole' | 'trimmed' | 'dropped'> {
  const { first, head } = await keptOf(runtime, name)
  const { messages, tasks } = await runtime.thread(name)
  const isListed = (await runtime.threads()).threads.some(({ thread }) => thread === name)
  expect(isListed).toBe(head >= first)
  if (!isListed) {
    expect([messages, tasks]).toEqual([[], []])
    return 'dropped'
  }
  expect([messages.length, tasks.length]).toEqual([promptCount * 2, promptCount])
  return first === 1 ? 'whole' : 'trimmed'
}

/** Dies at the n-th commit of a prune; undefined if it was through by then. */
async function pruneAndDie(kind: StoreKind, options: PruneOptions, nth: number, fault: Fault) {
  const here = createWorld(kind)
  try {
    const runtime = await here.open({ agents: { echo } })
    await begin(runtime)
    await here.clock.advance(10_000)
    await here.quiet()
    const commitsBefore = here.store.commitCount
    here.store.plan((_units, number) => (number === commitsBefore + nth ? fault : 'none'))
    const pruning = runtime.prune(options).then(() => 'pruned')
    if ((await Promise.race([pruning, here.store.crashed])) === 'pruned') return undefined
    await here.crash()
    const next = await here.open({ agents: { echo } })
    const left = await Promise.all(names.map((name) => leftOf(next, name)))
    await next.prune(options)
    const end = options.threadsMs === undefined ? 'trimmed' : 'dropped'
    expect(await Promise.all(names.map((name) => leftOf(next, name)))).toEqual([end, end])
    return left
  } finally {
    await here.end()
  }
}

async function dieEverywhere(kind: StoreKind, options: PruneOptions): Promise<string[]> {
  const left: string[] = []
  for (const fault of ['crash_before', 'crash_after'] as const) {
    for (let nth = 1; ; nth += 1) {
      const found = await pruneAndDie(kind, options, nth, fault)
      if (!found) break
      left.push(found.join(' '))
    }
  }
  return left
}

for (const kind of ['memory', 'sqlite'] as const) {
  it(
    `a crash at any commit of a prune leaves a log without a hole, and all messages and tasks (${kind})`,
    async () => {
      const left = await dieEverywhere(kind, { eventsPerThread: 1 })
      expect(left[0]).toBe('whole whole')
      expect(left).toContain('trimmed trimmed')
    },
    crashTestMs,
  )

  it(
    `a crash at any commit of a prune leaves an old thread with all that it said, or drops it whole (${kind})`,
    async () => {
      const left = await dieEverywhere(kind, { threadsMs: 1 })
      expect(left[0]).toBe('whole whole')
      expect(left.some((found) => found.includes('trimmed'))).toBe(true)
      expect(left.at(-1)).toBe('dropped dropped')
    },
    crashTestMs,
  )
}
