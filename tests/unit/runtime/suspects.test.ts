import { describe, expect, it } from 'vitest'
import { HoldfastError } from '../../../src/core/errors.ts'
import { type ThreadKey, taskId } from '../../../src/core/id.ts'
import type { LiveThread } from '../../../src/core/live-thread.ts'
import type { Unit } from '../../../src/core/unit.ts'
import { nextTurn } from '../../../src/runtime/clock.ts'
import type { Author } from '../../../src/runtime/entry.ts'
import type { Writer } from '../../../src/runtime/writer.ts'
import { memoryStore } from '../../../src/stores/memory/index.ts'
import type { Store } from '../../../src/stores/store.ts'
import { faultyStore, manualClock } from '../../../src/testing/index.ts'
import { writerOn } from './writer-on.ts'

const keyOf = (name: string) => `owner/${name}` as ThreadKey

/** A store that takes everything, but fails each batch with a unit of this thread in it, for as long as it is said to. */
async function failing(thread: ThreadKey, error: Error) {
  const store = faultyStore(memoryStore())
  await store.open()
  const faults = { isOver: false, batches: [] as number[], commitCount: 0, onFailed: () => {} }
  const commit: Store['commit'] = async (units) => {
    faults.commitCount += 1
    if (faults.isOver || !units.some((unit) => unit.thread === thread)) {
      return units.map(() => ({ committed: true, first: faults.commitCount, at: 0, taken: [] }))
    }
    faults.batches.push(units.length)
    faults.onFailed()
    throw error
  }
  return { store: { ...store, commit }, faults }
}

function unitIn(live: LiveThread, thread: ThreadKey): Unit {
  return { operation: 'cancel', thread, rev: live.rev, events: [{ type: 'custom', data: '{}' }] }
}

function asked(writer: Writer, name: string): Promise<unknown> {
  const thread = keyOf(name)
  const decide = (live: LiveThread) => ({ unit: unitIn(live, thread), value: undefined })
  return writer.change({ lane: thread, thread, operation: 'cancel', isIntent: true, decide })
}

/** Callers that each ask for the next as soon as they have the last, until they are told to stop. */
function busyCallers(writer: Writer) {
  const busy = { isOver: false, counts: Array.from({ length: 8 }, () => 0), done: Promise.resolve<unknown>(undefined) }
  const call = async (n: number) => {
    while (!busy.isOver) {
      await asked(writer, `busy-${n}`)
      busy.counts[n] = (busy.counts[n] ?? 0) + 1
    }
  }
  busy.done = Promise.all(busy.counts.map((_, n) => call(n)))
  return busy
}

async function turns(count: number): Promise<void> {
  for (let turn = 0; turn < count; turn++) await nextTurn()
}

describe('a batch that the store fails', () => {
  it('is taken apart until the unit at fault stands alone, though others keep coming', async () => {
    const { store, faults } = await failing(keyOf('bad'), new Error('value out of range'))
    const writer = writerOn(store)
    const busy = busyCallers(writer)
    await turns(20)
    const isRefused = expect(asked(writer, 'bad')).rejects.toThrow('value out of range')
    await turns(400)
    busy.isOver = true
    await Promise.all([busy.done, isRefused])
    expect(faults.batches[0]).toBeGreaterThan(1)
    expect(faults.batches.at(-1)).toBe(1)
    expect(faults.batches.length).toBeLessThan(8)
    expect(Math.min(...busy.counts)).toBeGreaterThan(20)
  })

  it('is taken apart though every batch has one at fault and more keep coming, and each is told so', async () => {
    const { store } = await failing(keyOf('bad'), new Error('value out of range'))
    const writer = writerOn(store)
    const asks = new Map<string, Promise<unknown>[]>()
    const ask = (name: string) => {
      const asking = asked(writer, name).catch(() => 'refused')
      asks.set(name, [...(asks.get(name) ?? []), asking])
    }
    for (let turn = 0; turn < 300; turn++) {
      if (turn % 4 === 0) for (let n = 0; n < 8; n++) ask(n === 3 ? 'bad' : `good-${turn}-${n}`)
      await nextTurn()
    }
    const settled = await Promise.all((asks.get('bad') ?? []).slice(0, 5))
    expect(settled).toEqual(Array(5).fill('refused'))
    const good = [...asks].filter(([name]) => name.startsWith('good')).flatMap(([, all]) => all)
    expect((await Promise.all(good)).includes('refused')).toBe(false)
    await writer.settled()
  })

  it('is taken apart with few commits, though several units are at fault', async () => {
    const { store, faults } = await failing(keyOf('bad'), new Error('value out of range'))
    const writer = writerOn(store)
    const others = Array.from({ length: 30 }, (_, n) => asked(writer, `other-${n}`))
    const refused = await Promise.allSettled([asked(writer, 'bad'), asked(writer, 'bad'), asked(writer, 'bad')])
    await Promise.all(others)
    expect(refused.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected'])
    expect(faults.commitCount).toBeLessThan(40)
  })
})

describe('a thread that another program holds', () => {
  const locked = new HoldfastError('thread_locked', 'A row is locked')

  it('keeps no other waiting: what is asked of it is refused, and others go on', async () => {
    const { store, faults } = await failing(keyOf('held'), locked)
    const clock = manualClock(0)
    const writer = writerOn(store, clock)
    const busy = busyCallers(writer)
    await turns(20)
    const isRefused = expect(asked(writer, 'held')).rejects.toMatchObject({ code: 'store_unavailable' })
    await turns(400)
    busy.isOver = true
    await Promise.all([busy.done, isRefused])
    expect(writer.isDown).toBe(false)
    expect(faults.batches.length).toBeLessThan(8)
    expect(Math.min(...busy.counts)).toBeGreaterThan(20)
  })

  it('does not leave the store counted as away once it is back', async () => {
    const { store, faults } = await failing(keyOf('held'), locked)
    const clock = manualClock(0)
    const away = { isOver: true }
    const commit: Store['commit'] = (units, onLate) =>
      away.isOver
        ? store.commit(units, onLate)
        : Promise.reject(new HoldfastError('store_unavailable', 'The network is gone'))
    const writer = writerOn({ ...store, commit }, clock)
    const silent = { flushed: () => {}, fenced: () => {}, unstorable: () => expect.unreachable() }
    const author: Author = { task: taskId('bg_0'), epoch: 1, thread: keyOf('held'), ...silent }
    writer.emit(author, { type: 'custom', task: author.task, data: '0' }, 1, undefined)
    await clock.advance(1_000)
    away.isOver = false
    await clock.advance(3_000)
    expect(writer.isDown).toBe(true)
    away.isOver = true
    await clock.advance(10_000)
    expect([writer.isDown, faults.isOver]).toEqual([false, false])
    await asked(writer, 'other')
    await writer.close()
  })

  it('keeps no step of another task waiting whose emit failed along with it', async () => {
    const { store, faults } = await failing(keyOf('held'), locked)
    const clock = manualClock(0)
    const writer = writerOn(store, clock)
    const silent = { flushed: () => {}, fenced: () => {}, unstorable: () => expect.unreachable() }
    const authorIn = (name: string): Author => ({ task: taskId(name), epoch: 1, thread: keyOf(name), ...silent })
    const [held, free] = [authorIn('held'), authorIn('free')]
    for (const author of [held, free])
      writer.emit(author, { type: 'custom', task: author.task, data: '0' }, 1, undefined)
    const record = {
      task: free.task,
      key: 'a',
      kind: 'step',
      value: '1',
      overlapped: false,
      attempt: 1,
      seq: 0,
    } as const
    const recorded = new Promise((resolve) => {
      // The one of the held thread is being tried alone, and the other waits for its turn.
      faults.onFailed = () => void (faults.batches.length === 2 && resolve(writer.record(free, [record])))
    })
    await clock.advance(10_000)
    await recorded
    expect(faults.batches.slice(0, 2)).toEqual([2, 1])
    expect(faults.commitCount).toBeLessThan(30)
  })

  it('gets what a task emits when it is free again, once and in order', async () => {
    const { store, faults } = await failing(keyOf('held'), locked)
    const written: string[] = []
    const clock = manualClock(0)
    const writer = writerOn(store, clock, ({ thread, events }) => {
      if (thread === keyOf('held')) written.push(...events.map(({ data }) => data))
    })
    const [task, thread] = [taskId('bg_0'), keyOf('held')]
    const silent = { flushed: () => {}, fenced: () => {}, unstorable: () => expect.unreachable() }
    const author: Author = { task, epoch: 1, thread, ...silent }
    const emit = (n: number) => writer.emit(author, { type: 'custom', task, data: `${n}` }, 1, undefined)
    const other = asked(writer, 'other')
    for (const n of [1, 2]) emit(n)
    const decide = (live: LiveThread) => ({ unit: unitIn(live, thread), value: undefined })
    const ended = writer.change({ lane: task, thread, operation: 'end', isIntent: false, decide })
    await other
    await clock.advance(10_000)
    expect(faults.batches.length).toBeLessThan(20)
    expect([written, writer.isDown]).toEqual([[], false])
    await asked(writer, 'other')
    const isRefused = expect(asked(writer, 'held')).rejects.toMatchObject({ code: 'store_unavailable' })
    await clock.advance(5_000)
    await isRefused
    faults.isOver = true
    await clock.advance(2_000)
    await writer.settled()
    expect(await ended).toMatchObject({ verdict: { committed: true } })
    expect(written).toEqual(['1', '2', '{}'])
    await writer.close()
    expect(clock.pendingTimerCount).toBe(0)
  })
})
