import { describe, expect, it } from 'vitest'
import type { LogCursor } from '../../../src/runtime/log-cursor.ts'
import { keyOf, type Line, seqs, turns, WrittenLog } from './written-log.ts'

const key = keyOf('t')

function lines(count: number, line: Line = {}): Line[] {
  return Array.from({ length: count }, () => line)
}

async function logOf(...written: readonly Line[]): Promise<WrittenLog> {
  const here = await WrittenLog.open()
  if (written.length > 0) await here.write(key, ...written)
  return here
}

function openAt(here: WrittenLog, after: number): Promise<LogCursor> {
  return here.feed.open(key, { after })
}

const goneFrom = (first: number) => ({ code: 'offset_gone', facts: { first } })

describe('a cursor', () => {
  it('C4 hands out the same array as every other at its place', async () => {
    const here = await logOf({}, {})
    const cursors = await Promise.all([openAt(here, 2), openAt(here, 2), openAt(here, 2)])
    const batches = cursors.map((cursor) => cursor.next())
    await here.write(key, {}, {})
    const [batch, ...others] = await Promise.all(batches)
    expect(seqs(batch)).toEqual([3, 4])
    for (const other of others) expect(other).toBe(batch)
  })

  it('is woken once by all that is published in a turn', async () => {
    const here = await logOf()
    const cursor = await openAt(here, 0)
    const next = cursor.next()
    const commits = [await here.commit(key, [{}, {}]), await here.commit(key, [{}])]
    for (const { publish } of commits) publish()
    expect(seqs(await next)).toEqual([1, 2, 3])
  })

  it('C2 hands a page out in batches of 256 KiB, and keeps no more than three of them', async () => {
    const here = await logOf(...lines(10, { length: 100_000 }))
    const cursor = await openAt(here, 0)
    const sizes: number[] = []
    for (let count = 0; count < 10; count += sizes.at(-1) ?? 10) sizes.push((await cursor.next())?.length ?? 0)
    expect([sizes, here.readCount]).toEqual([[2, 2, 2, 1, 2, 1], 2])
  })

  it('reads nothing when it is told of a head that it is past already', async () => {
    const here = await logOf({}, {})
    const cursor = await openAt(here, 2)
    const next = cursor.next()
    await turns()
    const { readCount } = here
    here.feed.moved(key, 1)
    await turns()
    expect(here.readCount).toBe(readCount)
    await here.write(key, {})
    expect(seqs(await next)).toEqual([3])
  })

  it('tells the head of the moment at which it was opened', async () => {
    const here = await logOf({}, {}, {})
    const cursor = await openAt(here, 1)
    await here.write(key, {})
    expect([cursor.head, cursor.isOver, here.feed.watchersOf(key)]).toEqual([3, false, 1])
  })

  it.for([
    [4, { code: 'offset_ahead', facts: { head: 3 } }],
    [0, goneFrom(2)],
  ] as const)('is refused after %d of a log from 2 to 3, and leaves nothing behind', async ([after, problem]) => {
    const here = await logOf({}, {}, {})
    here.forget(2)
    await expect(openAt(here, after)).rejects.toMatchObject(problem)
    expect([here.feed.streamCount, here.feed.watchersOf(key)]).toEqual([0, 0])
  })

  it('fails if what it is behind is removed, and is over', async () => {
    const here = await WrittenLog.open({ pageEvents: 2 })
    await here.write(key, ...lines(6))
    const cursor = await openAt(here, 0)
    expect(seqs(await cursor.next())).toEqual([1, 2])
    here.forget(5)
    await expect(cursor.next()).rejects.toMatchObject(goneFrom(5))
    expect([cursor.isOver, await cursor.next(), here.feed.streamCount]).toEqual([true, undefined, 0])
  })

  it('is asked for one batch at a time', async () => {
    const here = await logOf()
    const cursor = await openAt(here, 0)
    const waiting = cursor.next()
    await expect(cursor.next()).rejects.toThrow('one batch at a time')
    await here.write(key, {})
    expect(seqs(await waiting)).toEqual([1])
  })

  it('reads what another node wrote once for all who are at the head', async () => {
    const here = await logOf({})
    const cursors = await Promise.all(Array.from({ length: 20 }, () => openAt(here, 1)))
    const batches = cursors.map((cursor) => cursor.next())
    await turns()
    const readCount = here.readCount
    const byOther = await here.commit(key, [{}, {}])
    byOther.hint()
    for (const batch of batches) expect(seqs(await batch)).toEqual([2, 3])
    expect(here.readCount - readCount).toBe(1)
  })

  it('fails with the store, and ends for good', async () => {
    const here = await logOf({})
    const cursor = await openAt(here, 1)
    const next = cursor.next()
    await here.store.close()
    here.feed.hint(key)
    await expect(next).rejects.toMatchObject({ code: 'store_unavailable' })
    expect([cursor.isOver, here.feed.watchersOf(key)]).toEqual([true, 0])
  })

  it('ends when the feed is closed, and so does one that is being opened', async () => {
    const here = await logOf({})
    const cursor = await openAt(here, 1)
    const next = cursor.next()
    const opening = openAt(here, 1)
    here.feed.close()
    expect([await next, (await opening).isOver, here.feed.streamCount]).toEqual([undefined, true, 0])
  })

  it('ends when the feed is closed while it reads, though the store is closed before it was answered', async () => {
    const held = Promise.withResolvers<void>()
    let isHeld = false
    const here = await WrittenLog.open({ pause: () => (isHeld ? held.promise : Promise.resolve()), pageEvents: 1 })
    await here.write(key, {}, {})
    const [behind, waiting] = [await openAt(here, 0), await openAt(here, 2)]
    expect(seqs(await behind.next())).toEqual([1])
    isHeld = true
    const batches = [behind.next(), waiting.next()]
    here.feed.hint(key)
    await turns()
    here.feed.close()
    await here.store.close()
    held.resolve()
    expect(await Promise.all(batches)).toEqual([undefined, undefined])
  })
})

describe('a cursor whose thread is erased', () => {
  it('C5 hands out what was published, and then ends, if it had the rest', async () => {
    const here = await logOf({}, {})
    const [idle, late] = await Promise.all([openAt(here, 2), openAt(here, 2)])
    const next = idle.next()
    await here.write(key, {})
    here.forget(4)
    here.feed.closeThread(key)
    expect([seqs(await next), await idle.next()]).toEqual([[3], undefined])
    expect([seqs(await late.next()), await late.next()]).toEqual([[3], undefined])
    expect([idle.isOver, here.feed.streamCount]).toEqual([true, 0])
  })

  it('C5 ends at once if it waits', async () => {
    const here = await logOf({})
    const cursor = await openAt(here, 1)
    const next = cursor.next()
    await turns()
    here.forget(2)
    here.feed.closeThread(key)
    expect(await next).toBeUndefined()
  })

  it('C5 fails with what is gone if it was behind, also with a page that it had read', async () => {
    const here = await WrittenLog.open({ pageEvents: 4 })
    await here.write(key, ...lines(8, { length: 200_000 }))
    const [fresh, begun] = await Promise.all([openAt(here, 0), openAt(here, 0)])
    expect(seqs(await begun.next())).toEqual([1])
    here.forget(9)
    here.feed.closeThread(key)
    for (const cursor of [fresh, begun]) {
      await expect(cursor.next()).rejects.toMatchObject(goneFrom(9))
      expect(cursor.isOver).toBe(true)
    }
    expect(here.feed.streamCount).toBe(0)
  })

  it('shows nothing of what comes after; who comes then sees that alone', async () => {
    const here = await logOf({})
    const before = await openAt(here, 1)
    here.forget(2)
    here.feed.closeThread(key)
    const after = await openAt(here, 1)
    await here.write(key, {})
    expect([await before.next(), seqs(await after.next())]).toEqual([undefined, [2]])
    expect(here.feed.watchersOf(key)).toBe(1)
  })
})
