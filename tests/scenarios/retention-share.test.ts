import { expect, it } from 'vitest'
import { principal, threadId, threadKey } from '../../src/core/id.ts'
import type { PruneOptions, Runtime } from '../../src/index.ts'
import { deltas, unit } from '../../src/testing/store-suite/builders.ts'
import { heldAgent } from './held-agent.ts'
import { keptOf, nothing } from './pruned.ts'
import { onEachStore, type World } from './world.ts'

const minuteMs = 60_000
// A call makes at most so many commits, and each removes a quarter of a mebibyte of a log at most: a row of these.
const share = 500
const rowCount = share + 40
const data = JSON.stringify({ text: 'x'.repeat(140 * 1024) })

/** A log of `count` rows, each of one event. */
async function writeRows(here: World, name: string, count: number): Promise<void> {
  const row = unit({ thread: keyOf(name), events: deltas(1).map((each) => ({ ...each, data })) })
  for (let n = 0; n < count; n++) await here.store.commit([row])
}

function keyOf(name: string) {
  return threadKey(principal('owner'), threadId(name))
}

/** Counts the commits that remove something. */
function countRemovals(here: World): () => number {
  let count = 0
  here.store.plan((units) => {
    if (units.some(({ trim, erase, eraseTasks }) => trim !== undefined || erase || eraseTasks)) count += 1
    return 'none'
  })
  return () => count
}

/** All that there is to prune, call by call; says what each did. */
async function pruneAll(runtime: Runtime, options: PruneOptions, between = async () => {}) {
  const calls = [await runtime.prune(options)]
  for (let cursor = calls[0]?.cursor; cursor !== undefined; cursor = calls.at(-1)?.cursor) {
    await between()
    calls.push(await runtime.prune({ ...options, cursor }))
  }
  return calls
}

onEachStore(['sqlite'], (_kind, world) => {
  it('a prune of a long log answers when it has done its share, and goes on at that thread', async () => {
    const here = world()
    const runtime = await here.open()
    await writeRows(here, 'older', 3)
    await here.clock.advance(1_000)
    await writeRows(here, 'long', rowCount)
    const removals = countRemovals(here)
    const perCall: number[] = []
    // What is written meanwhile is not for this prune: a log that grows would never be done.
    const calls = await pruneAll(runtime, { eventsPerThread: 1 }, async () => {
      perCall.push(removals())
      await writeRows(here, 'long', 10)
    })
    expect(calls.map(({ events, cursor }) => [events, cursor !== undefined])).toEqual([
      [share, true],
      [rowCount - 1 - share + 2, false],
    ])
    expect(perCall).toEqual([share])
    expect((await keptOf(runtime, 'long')).first).toBe(rowCount)
    expect((await keptOf(runtime, 'older')).first).toBe(3)
  })

  it('a prune goes on at a thread that something has happened in, wherever it is in the list then', async () => {
    const here = world()
    const runtime = await here.open()
    await writeRows(here, 'long', rowCount)
    await here.clock.advance(1_000)
    const newer = Array.from({ length: 60 }, (_, n) => unit({ thread: keyOf(`t${n}`), events: deltas(1) }))
    await here.store.commit(newer)
    const calls = await pruneAll(runtime, { eventsPerThread: 1 }, async () => {
      await here.clock.advance(1_000)
      await writeRows(here, 'long', 1)
    })
    expect(calls.map(({ events }) => events)).toEqual([share, rowCount - 1 - share])
    expect((await keptOf(runtime, 'long')).first).toBe(rowCount)
  })

  it('a long thread is dropped over several calls', async () => {
    const here = world()
    const runtime = await here.open()
    await writeRows(here, 'long', rowCount)
    await here.clock.advance(10_000)
    const removals = countRemovals(here)
    const calls = await pruneAll(runtime, { threadsMs: 5_000 }, async () => {
      expect(removals()).toBe(share)
    })
    expect(calls.map(({ threads }) => threads)).toEqual([0, 1])
    expect(calls.reduce((sum, { events }) => sum + events, 0)).toBe(rowCount)
    expect((await runtime.threads()).threads).toEqual([])
  })

  it('a policy gets all of a long log done, and what is behind it', async () => {
    const here = world()
    const runtime = await here.open({ retention: { eventsPerThread: 1 } })
    await writeRows(here, 'older', 3)
    await here.clock.advance(1_000)
    await writeRows(here, 'long', rowCount)
    await here.clock.advance(minuteMs)
    await here.quiet()
    expect((await keptOf(runtime, 'long')).first).toBe(rowCount)
    expect((await keptOf(runtime, 'older')).first).toBe(3)
  })

  it('a log whose first row holds events that stay is done at once', async () => {
    const here = world()
    const runtime = await here.open()
    await here.store.commit([unit({ thread: keyOf('t'), events: deltas(10) })])
    expect(await runtime.prune({ eventsPerThread: 5 })).toEqual(nothing)
  })

  it('many threads of a page are left for the next call when the share is done', async () => {
    const here = world()
    const runtime = await here.open()
    await writeRows(here, 'a', share / 2)
    for (const name of ['b', 'c']) {
      await here.clock.advance(1_000)
      await writeRows(here, name, share / 2)
    }
    const removals = countRemovals(here)
    const calls = await pruneAll(runtime, { eventsPerThread: 1 }, async () => {
      expect(removals()).toBeLessThanOrEqual(share)
    })
    expect(calls.length).toBe(2)
    expect(calls.reduce((sum, { events }) => sum + events, 0)).toBe(3 * (share / 2 - 1))
  })
})

onEachStore(['memory', 'sqlite'], (_kind, world) => {
  it('a log whose front stays is done at once', async () => {
    const here = world()
    const held = heldAgent()
    const runtime = await here.open({ agents: { held } })
    const { id } = await runtime.run({ thread: 't', agent: 'held', prompt: 'live' })
    await held.started('live')
    expect(await runtime.prune({ eventsPerThread: 1 })).toEqual(nothing)
    held.release('live')
    await runtime.wait(id)
  })

  it('a prune that was to go on at a thread that is gone goes on with the others', async () => {
    const here = world()
    const runtime = await here.open()
    for (let n = 0; n < 3; n++) await here.store.commit([unit({ thread: keyOf('t'), events: deltas(1) })])
    expect(await runtime.prune({ eventsPerThread: 1, cursor: '5/gone/' })).toEqual({ ...nothing, events: 2 })
  })

  it.each(['none', '/t/nonsense', 'x/t/', '/'])('a prune from the cursor %s is refused', async (cursor) => {
    const runtime = await world().open()
    const refusal = { code: 'invalid_request', message: expect.stringContaining('cursor') }
    await expect(runtime.prune({ eventsPerThread: 5, cursor })).rejects.toMatchObject(refusal)
  })
})
