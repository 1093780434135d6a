import { describe, expect, it } from 'vitest'
import type { Decision } from '../../../src/core/decision.ts'
import { type ThreadKey, taskId } from '../../../src/core/id.ts'
import type { LiveThread } from '../../../src/core/live-thread.ts'
import type { Operation, Unit } from '../../../src/core/unit.ts'
import { nextTurn } from '../../../src/runtime/clock.ts'
import type { Author } from '../../../src/runtime/entry.ts'
import type { Writer } from '../../../src/runtime/writer.ts'
import { memoryStore } from '../../../src/stores/memory/index.ts'
import type { Store } from '../../../src/stores/store.ts'
import { faultyStore, manualClock } from '../../../src/testing/index.ts'
import { writerOn } from './writer-on.ts'

const thread = 'owner/t' as ThreadKey

/** A memory store whose first commit is refused, unit by unit, as one that another node was quicker than. */
async function overtakenOnce(): Promise<Store> {
  const store = faultyStore(memoryStore())
  await store.open()
  let isFirst = true
  const commit: Store['commit'] = async (units) => {
    if (!isFirst) return store.commit(units)
    isFirst = false
    return units.map(() => ({ committed: false, reason: { code: 'stale' } }))
  }
  return { ...store, commit }
}

/** A store that takes everything, or refuses everything, and says when it was asked to. */
async function tracked(isRefused: boolean): Promise<{ readonly store: Store; readonly happened: string[] }> {
  const store = faultyStore(memoryStore())
  await store.open()
  const happened: string[] = []
  let head = 0
  const commit: Store['commit'] = async (units) => {
    const events = units.flatMap((unit) => unit.events)
    happened.push(`began ${events.map(({ data }) => data)}`)
    if (isRefused) return units.map(() => ({ committed: false, reason: { code: 'fenced' } }))
    head += events.length
    return units.map(() => ({ committed: true, first: head, at: 0, taken: [] }))
  }
  return { store: { ...store, commit }, happened }
}

/** Writes down which operations each commit held. */
async function recorded(): Promise<{ readonly store: Store; readonly commits: string[][] }> {
  const store = faultyStore(memoryStore())
  await store.open()
  const commits: string[][] = []
  const commit: Store['commit'] = (units) => {
    commits.push(units.map((unit) => unit.operation))
    return store.commit(units)
  }
  return { store: { ...store, commit }, commits }
}

function unitIn(live: LiveThread, operation: Operation = 'cancel'): Unit {
  return { operation, thread, rev: live.rev, events: [{ type: 'custom', data: '{}' }] }
}

function asked(writer: Writer, operation: Operation, isIntent: boolean): Promise<unknown> {
  return writer.change({ lane: `${operation}${isIntent}`, thread, operation, isIntent, decide: unitOf(operation) })
}

function unitOf(operation: Operation): (live: LiveThread) => Decision<undefined> {
  return (live) => ({ unit: unitIn(live, operation), value: undefined })
}

describe('the writer', () => {
  it.each(['returned', 'thrown'] as const)('decides again what was %s after a unit that is refused', async (how) => {
    const writer = writerOn(await overtakenOnce())
    let isFirst = true
    // The first decision is overtaken by another node; seen anew there is nothing left to do.
    const decideFirst = (live: LiveThread): Decision<string> => {
      const decision = isFirst ? { unit: unitIn(live), value: 'done' } : { value: 'too late' }
      isFirst = false
      return decision
    }
    const decideNext = (live: LiveThread): Decision<string> => {
      if (live.rev === 0) return { value: 'alone' }
      if (how === 'returned') return { value: 'second' }
      throw new Error('refused for the sake of the first')
    }
    const change = { lane: thread, thread, operation: 'cancel', isIntent: true } as const
    const first = writer.change({ ...change, decide: decideFirst })
    const next = writer.change({ ...change, decide: decideNext })
    expect(await Promise.all([first, next])).toEqual([{ value: 'too late' }, { value: 'alone' }])
  })

  it('commits an end right behind an acceptance together with what is asked for next', async () => {
    const { store, commits } = await recorded()
    const writer = writerOn(store)
    await asked(writer, 'accept', true)
    const ended = asked(writer, 'end', false)
    for (let turn = 0; turn < 4; turn++) await nextTurn()
    await Promise.all([ended, asked(writer, 'accept', true)])
    expect(commits).toEqual([['accept'], ['end', 'accept']])
  })

  it('commits an end right behind an acceptance a moment later if nothing else is asked for', async () => {
    const { store, commits } = await recorded()
    const clock = manualClock(0)
    const writer = writerOn(store, clock)
    await asked(writer, 'accept', true)
    const ended = asked(writer, 'end', false)
    await clock.advance(1)
    await ended
    expect(commits).toEqual([['accept'], ['end']])
  })

  it.each(['cancel', 'step'] as const)('commits an end behind a %s at once', async (operation) => {
    const { store, commits } = await recorded()
    const writer = writerOn(store)
    await asked(writer, operation, true)
    await asked(writer, 'end', false)
    expect(commits).toEqual([[operation], ['end']])
  })
})

describe('a flood of emits', () => {
  /** Says of each commit that it was begun and made, and of each emit that it was told. */
  async function flooded(isRefused = false) {
    const { store, happened } = await tracked(isRefused)
    const told = (unit: Unit) => happened.push(`told ${unit.events[0]?.data}`)
    const writer = writerOn(store, manualClock(0), told)
    const flushed: number[] = []
    const author: Author = {
      task: taskId('bg_1'),
      epoch: 1,
      thread,
      flushed: (bytes) => flushed.push(bytes),
      fenced: () => happened.push('fenced'),
      unstorable: () => happened.push('unstorable'),
    }
    const emit = (n: number) => writer.emit(author, { type: 'custom', data: `${n}` }, 40_000, undefined)
    return { writer, happened, emit, flushed }
  }

  it('W6 has the next batch on its way before the last one is told, each told once and in order', async () => {
    const { writer, happened, emit, flushed } = await flooded()
    for (const n of [1, 2, 3]) emit(n)
    await writer.settled()
    expect(happened).toEqual(['began 1', 'began 2,3', 'told 1', 'told 2', 'told 3'])
    expect(flushed).toEqual([40_000, 40_000, 40_000])
  })

  it('tells a batch at once when something else waits than emits', async () => {
    const { writer, happened, emit } = await flooded()
    for (const n of [1, 2]) emit(n)
    const ended = asked(writer, 'end', false)
    await ended
    await writer.settled()
    expect(happened.slice(0, 2)).toEqual(['began 1,{}', 'told 1'])
  })

  it('tells a refusal at once, and writes nothing more in its place', async () => {
    const { writer, happened, emit } = await flooded(true)
    for (const n of [1, 2]) emit(n)
    await writer.settled()
    expect(happened).toEqual(['began 1', 'fenced', 'began 2', 'fenced'])
  })

  it('leaves the event loop to others though the store answers within a turn', async () => {
    const { writer, happened, emit } = await flooded()
    for (let n = 1; n <= 60; n++) emit(n)
    const beganCount = () => happened.filter((what) => what.startsWith('began')).length
    const seen: number[] = []
    setImmediate(() => setImmediate(() => seen.push(beganCount())))
    await writer.settled()
    expect(seen).toHaveLength(1)
    expect(seen[0]).toBeLessThan(beganCount())
  })
})

describe('a thread that cannot be read', () => {
  const broken = 'owner/broken' as ThreadKey

  async function partlyReadable() {
    const inner = faultyStore(memoryStore())
    await inner.open()
    const trouble = { isOver: false, readCount: 0 }
    const livePart: Store['livePart'] = (key) => {
      if (key !== broken || trouble.isOver) return inner.livePart(key)
      trouble.readCount += 1
      return Promise.reject(new Error('the live part is too large'))
    }
    return { store: { ...inner, livePart }, inner, trouble }
  }

  const change = (writer: Writer, key: ThreadKey, isIntent: boolean): Promise<unknown> => {
    const decide = (live: LiveThread): Decision<string> => {
      return { unit: { operation: 'cancel', thread: key, rev: live.rev, events: [] }, value: 'done' }
    }
    return writer.change({ lane: `${key}${isIntent}`, thread: key, operation: 'cancel', isIntent, decide })
  }

  it('refuses what is asked of it, and keeps no other thread waiting', async () => {
    const { store } = await partlyReadable()
    const writer = writerOn(store)
    const [refused, ...done] = await Promise.allSettled([
      change(writer, broken, true),
      change(writer, thread, true),
      change(writer, 'owner/other' as ThreadKey, true),
    ])
    expect(refused).toMatchObject({ status: 'rejected', reason: { code: 'store_unavailable' } })
    expect(done).toMatchObject([{ value: { value: 'done' } }, { value: { value: 'done' } }])
    expect(writer.isDown).toBe(false)
    await writer.close()
  })

  it('loses nothing that an execution writes to it, and is tried again after a while, not all the time', async () => {
    const { store, trouble } = await partlyReadable()
    const clock = manualClock(0)
    const writer = writerOn(store, clock)
    const ending = change(writer, broken, false)
    await clock.advance(10_000)
    expect(trouble.readCount).toBeLessThan(20)
    expect(await change(writer, thread, true)).toMatchObject({ value: 'done' })
    expect(writer.isDown).toBe(false)
    trouble.isOver = true
    await clock.advance(2_000)
    expect(await ending).toMatchObject({ value: 'done' })
    await writer.close()
    expect(clock.pendingTimerCount).toBe(0)
  })

  it('keeps no node from closing', async () => {
    const { store } = await partlyReadable()
    const clock = manualClock(0)
    const writer = writerOn(store, clock)
    const given = expect(change(writer, broken, false)).rejects.toMatchObject({ code: 'draining' })
    await writer.close()
    await given
    expect(clock.pendingTimerCount).toBe(0)
  })

  it('is all of them while the store is down', async () => {
    const { store, inner } = await partlyReadable()
    const writer = writerOn(store)
    inner.down()
    await expect(change(writer, broken, true)).rejects.toMatchObject({ code: 'store_unavailable' })
    expect(writer.isDown).toBe(true)
    await writer.close()
  })
})
