import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { principal, type ThreadKey, threadId, threadKey } from '../../../src/core/id.ts'
import type { Firehose } from '../../../src/runtime/firehose.ts'
import type { LogEntry } from '../../../src/runtime/log-entry.ts'
import { keyOf, owner, playOut, seqs, turns, WrittenLog } from './written-log.ts'

const threads = ['a', 'b', 'c']

const burst = fc.record({
  thread: fc.constantFrom(...threads),
  lines: fc.array(
    fc.record({
      type: fc.constantFrom('text.delta' as const, 'custom' as const),
      length: fc.constantFrom(1, 1, 200_000, 400_000),
    }),
    { minLength: 1, maxLength: 5 },
  ),
  by: fc.constantFrom(
    'this node',
    'this node',
    'another node',
    'another node, with its row',
    'another node, its hint lost',
  ),
})

type Burst = typeof burst extends fc.Arbitrary<infer Value> ? Value : never
type Pause = () => Promise<unknown>

async function writeAll(here: WrittenLog, bursts: readonly Burst[], pause: Pause): Promise<void> {
  for (const { thread, lines, by } of bursts) {
    await pause()
    const after = await here.commit(keyOf(thread), lines)
    await pause()
    if (by === 'this node') after.publish()
    if (by === 'another node') after.hint()
    if (by === 'another node, with its row') after.row()
  }
}

async function readAll(firehose: Firehose, seen: LogEntry[], pause: Pause): Promise<void> {
  for (;;) {
    const batch = await firehose.next()
    if (!batch) return
    expect(batch.length).toBeGreaterThan(0)
    seen.push(...batch)
    await pause()
  }
}

function isOf(thread: string): (entry: LogEntry) => boolean {
  return ({ text }) => text.startsWith(`{"thread":"${thread}",`)
}

function lines(length: number, count: number): { length: number }[] {
  return Array.from({ length: count }, () => ({ length }))
}

describe('a firehose', () => {
  it('F1 gives each thread in order and without a hole from its first event on, however slow its reader is', async () => {
    const property = fc.asyncProperty(
      fc.scheduler(),
      fc.array(burst, { minLength: 1, maxLength: 12 }),
      fc.array(burst, { maxLength: 3 }),
      fc.constantFrom(undefined, ['custom']),
      fc.integer({ min: 1, max: 6 }),
      async (scheduler, bursts, earlier, types, pageEvents) => {
        const pause = () => scheduler.schedule(Promise.resolve())
        const here = await WrittenLog.open({ pause, pageEvents })
        for (const { thread, lines: old } of earlier) await here.write(keyOf(thread), ...old)
        const heads = new Map(threads.map((thread) => [thread, here.head(keyOf(thread))]))
        await here.clock.advance(1)
        here.told.clear()
        const firehose = here.feed.openFirehose(owner, types && new Set(types))
        const given: LogEntry[] = []
        const work = Promise.all([writeAll(here, bursts, pause), readAll(firehose, given, pause)])
        await playOut(scheduler)
        for (const [thread, head] of heads) {
          const key = keyOf(thread)
          const { after = 0, upTo = 0 } = here.told.get(key) ?? {}
          const later = (here.log.get(key) ?? []).filter(({ seq }) => seq > Math.max(after, head) && upTo > head)
          const all = later.filter(({ type }) => types === undefined || (types as readonly string[]).includes(type))
          const seen = given.filter(isOf(thread))
          expect(seqs(seen)).toEqual(seqs(all)?.slice(0, seen.length))
          expect(seen.length).toBeGreaterThanOrEqual(all.filter(({ seq }) => seq <= upTo).length)
        }
        firehose.close()
        await work
        expect(here.feed.streamCount).toBe(0)
      },
    )
    await fc.assert(property, { numRuns: 300 })
  }, 60_000)

  it('F2 takes what is published as it comes, without asking the store, while its reader keeps up', async () => {
    const here = await WrittenLog.open()
    const firehose = here.feed.openFirehose(owner, undefined)
    for (let n = 1; n <= 50; n += 1) {
      const next = firehose.next()
      await here.write(keyOf(`t${n % 3}`), ...lines(1, 2))
      expect(await next).toHaveLength(2)
    }
    expect(here.readCount).toBe(0)
  })

  it('F2 takes what another node wrote, without asking the store, where it follows on what was given', async () => {
    const here = await WrittenLog.open()
    const firehose = here.feed.openFirehose(owner, undefined)
    await here.write(keyOf('t'), ...lines(1, 2))
    await firehose.next()
    const next = firehose.next()
    const { row } = await here.commit(keyOf('t'), lines(1, 3))
    row()
    expect(seqs(await next)).toEqual([3, 4, 5])
    expect(here.readCount).toBe(0)
  })

  it.each([
    ['no place in its thread', undefined],
    ['no event of its types in it', new Set(['custom'])],
  ])('F2 reads what was before a row of another node, where there was %s', async (_case, types) => {
    const here = await WrittenLog.open()
    const firehose = here.feed.openFirehose(owner, types)
    await here.commit(keyOf('t'), [{ type: 'custom' }, { type: 'custom' }])
    const { row } = await here.commit(keyOf('t'), [{ type: 'text.delta' }])
    row()
    expect(seqs(await firehose.next())).toEqual(types ? [1, 2] : [1, 2, 3])
  })

  it('F3 keeps a mebibyte of what is published, leaves the rest in the store, and reads it from there', async () => {
    const here = await WrittenLog.open()
    const firehose = here.feed.openFirehose(owner, undefined)
    for (let n = 0; n < 100; n += 1) await here.write(keyOf('t'), { length: 100_000 })
    expect(here.readCount).toBe(0)
    const seen: LogEntry[] = []
    const taken: number[] = []
    while (seen.length < 100) {
      seen.push(...((await firehose.next()) ?? []))
      if (here.readCount === 0) taken.push(seen.length)
    }
    expect(taken.at(-1)).toBe(10)
    expect(seqs(seen)).toEqual(Array.from({ length: 100 }, (_each, n) => n + 1))
  })

  it('F3 is ended if its reader is behind in more threads than it keeps places of', async () => {
    const here = await WrittenLog.open()
    const firehose = here.feed.openFirehose(owner, undefined)
    await here.write(keyOf('t'), ...lines(100_000, 10))
    for (let n = 0; n < 10_000; n += 1) here.feed.hint(keyOf(`t${n}`))
    expect(await firehose.next()).toHaveLength(2)
    here.feed.hint(keyOf('one.more'))
    expect(await firehose.next()).toBeUndefined()
  })

  it('F3 forgets threads without news, and goes on with them when there are some', async () => {
    const here = await WrittenLog.open()
    const firehose = here.feed.openFirehose(owner, undefined)
    const quiet = keyOf('quiet')
    await here.write(quiet, {}, {})
    expect(await firehose.next()).toHaveLength(2)
    for (let n = 0; n < 10_001; n += 1) {
      here.feed.publish(keyOf(`t${n}`), 1, 1000, [{ type: 'custom', data: '{}' }])
      expect(await firehose.next()).toHaveLength(1)
    }
    await here.clock.advance(1)
    const byOther = await here.commit(quiet, [{}])
    byOther.hint()
    expect(seqs(await firehose.next())).toEqual([3])
    await here.write(quiet, {})
    expect(seqs(await firehose.next())).toEqual([4])
  })

  it('F4 is ended if what its reader was to be given next is no longer kept', async () => {
    const here = await WrittenLog.open()
    const firehose = here.feed.openFirehose(owner, undefined)
    for (let n = 0; n < 40; n += 1) await here.write(keyOf('t'), { length: 100_000 })
    here.forget(31)
    const seen: LogEntry[] = []
    for (let batch = await firehose.next(); batch; batch = await firehose.next()) seen.push(...batch)
    expect(seqs(seen)).toEqual(Array.from({ length: 10 }, (_each, n) => n + 1))
  })

  it.each(['this node', 'another node'] as const)(
    'F5 gives what waits and ends, once for all threads that %s erases within a moment',
    async (by) => {
      const here = await WrittenLog.open()
      const keys = ['a', 'b', 'c'].map(keyOf)
      const firehose = here.feed.openFirehose(owner, undefined)
      for (const key of keys) await here.write(key, {})
      expect(await firehose.next()).toHaveLength(3)
      const next = firehose.next()
      for (const key of keys) await here.erase(key, by)
      await turns()
      await here.write(keyOf('d'), {})
      expect(await next).toHaveLength(1)
      await here.write(keyOf('d'), {})
      await here.clock.advance(500)
      await here.write(keyOf('d'), {})
      expect(await firehose.next()).toHaveLength(1)
      expect(await firehose.next()).toBeUndefined()
      const fresh = here.feed.openFirehose(owner, undefined)
      const later = fresh.next()
      await here.clock.advance(5_000)
      await here.write(keyOf('d'), {})
      expect(seqs(await later)).toEqual([4])
      expect(here.clock.pendingTimerCount).toBe(0)
    },
  )

  it('F5 is not ended by what is erased of another principal, nor after the feed is closed', async () => {
    const here = await WrittenLog.open()
    const firehose = here.feed.openFirehose(principal('bob'), undefined)
    await here.write(keyOf('a'), {})
    await here.erase(keyOf('a'), 'this node')
    expect(here.clock.pendingTimerCount).toBe(0)
    await here.erase(threadKey(principal('bob'), threadId('t')), 'this node')
    expect(here.clock.pendingTimerCount).toBe(1)
    here.feed.close()
    expect(here.clock.pendingTimerCount).toBe(0)
    expect(await firehose.next()).toBeUndefined()
  })

  it('shows no other principal’s threads', async () => {
    const here = await WrittenLog.open()
    const firehose = here.feed.openFirehose(principal('bob'), undefined)
    const theirs: ThreadKey = threadKey(principal('bob'), threadId('t'))
    const next = firehose.next()
    await here.write(keyOf('t'), {}, {}, {})
    await here.write(theirs, {})
    expect(seqs(await next)).toEqual([1])
  })

  it('ends with what it waits for when it is closed, or the runtime is', async () => {
    const here = await WrittenLog.open()
    const firehoses = [1, 2].map(() => here.feed.openFirehose(owner, undefined))
    const waiting = firehoses.map((each) => each.next())
    await turns(1)
    firehoses[0]?.close()
    expect([await waiting[0], here.feed.streamCount]).toEqual([undefined, 1])
    here.feed.close()
    expect([await waiting[1], here.feed.streamCount]).toEqual([undefined, 0])
    expect(await here.feed.openFirehose(owner, undefined).next()).toBeUndefined()
  })

  it('ends when it is closed while it reads, though the store is closed before it was answered', async () => {
    const held = Promise.withResolvers<void>()
    const here = await WrittenLog.open({ pause: () => held.promise })
    const firehose = here.feed.openFirehose(owner, undefined)
    const next = firehose.next()
    const { hint } = await here.commit(keyOf('t'), lines(1, 1))
    hint()
    await turns()
    here.feed.close()
    await here.store.close()
    held.resolve()
    expect(await next).toBeUndefined()
  })
})
