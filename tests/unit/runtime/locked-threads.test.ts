import { describe, expect, it } from 'vitest'
import { HoldfastError } from '../../../src/core/errors.ts'
import { type ThreadKey, taskId } from '../../../src/core/id.ts'
import type { LiveThread } from '../../../src/core/live-thread.ts'
import type { Unit } from '../../../src/core/unit.ts'
import { expiry } from '../../../src/runtime/clock.ts'
import type { Writer } from '../../../src/runtime/writer.ts'
import { memoryStore } from '../../../src/stores/memory/index.ts'
import type { Store } from '../../../src/stores/store.ts'
import { manualClock } from '../../../src/testing/index.ts'
import { writerOn } from './writer-on.ts'

// What a commit waits for a thread that was waited for in vain before, and what any other takes.
const [lockMs, commitMs] = [100, 5]
const keyOf = (name: string) => `owner/${name}` as ThreadKey

/** A writer on a store that others lock all threads of whose name begins with `held`. */
async function writerBesideLocks() {
  const clock = manualClock(0)
  const inner = memoryStore()
  await inner.open()
  const state = { isOver: false, committed: new Set<ThreadKey>(), failed: [] as number[] }
  const commit: Store['commit'] = async (units) => {
    await expiry(clock, commitMs).expired
    if (!state.isOver && units.some(({ thread }) => thread.startsWith(keyOf('held')))) {
      await expiry(clock, lockMs).expired
      state.failed.push(units.length)
      throw new HoldfastError('thread_locked', 'A row is locked')
    }
    for (const { thread } of units) state.committed.add(thread)
    return units.map(() => ({ committed: true, first: 1, at: 0, taken: [] }))
  }
  const reads = { livePart: async () => undefined, tasks: async () => ({ tasks: [] }) }
  const writer = writerOn({ ...inner, commit, ...reads, clock: inner.clock }, clock)
  const silent = { flushed: () => {}, fenced: () => {}, unstorable: () => expect.unreachable() }
  const emit = (name: string, bytes = 1) => {
    const author = { task: taskId(`bg_${name}`), epoch: 1, thread: keyOf(name), ...silent }
    writer.emit(author, { type: 'custom', task: author.task, data: '0' }, bytes, undefined)
  }
  return { clock, writer, state, emit }
}

function unitIn(live: LiveThread): Unit {
  return { operation: 'end', thread: live.key, rev: live.rev, events: [{ type: 'custom', data: '{}' }] }
}

function asked(writer: Writer, name: string): Promise<unknown> {
  const thread = keyOf(name)
  const decide = (live: LiveThread) => ({ unit: unitIn(live), value: undefined })
  return writer.change({ lane: thread, thread, operation: 'cancel', isIntent: true, decide })
}

describe.for([10, 30, 300])('%i threads that another program holds', (count) => {
  async function writerWithLocked() {
    const beside = await writerBesideLocks()
    for (let n = 0; n < count; n += 1) beside.emit(`held-${n}`)
    return beside
  }

  it('keep nobody waiting for longer than it takes to try one of them', async () => {
    const { clock, writer } = await writerWithLocked()
    await clock.advance(120_000)
    let isDone = false
    const asking = asked(writer, 'free').then(() => {
      isDone = true
    })
    await clock.advance(2 * (lockMs + commitMs) + commitMs)
    expect(isDone).toBe(true)
    await asking
  })

  it('keep nobody waiting who was in a batch with them for longer than it takes to find them', async () => {
    const { clock, emit, state } = await writerWithLocked()
    emit('free')
    await clock.advance(count * (lockMs + commitMs) * 3)
    expect([...state.committed]).toEqual([keyOf('free')])
  })

  it('do not keep a writer from closing', async () => {
    const { clock, writer } = await writerWithLocked()
    await clock.advance(120_000)
    let isClosed = false
    const closing = writer.close().then(() => {
      isClosed = true
    })
    await clock.advance(12_000)
    expect(isClosed).toBe(true)
    await closing
  })

  it('are written to within seconds of being free', async () => {
    const { clock, writer, state } = await writerWithLocked()
    await clock.advance(120_000)
    state.isOver = true
    await clock.advance(12_000 + count * commitMs * 2)
    expect(state.committed.size).toBe(count)
    await writer.settled()
  })
})

describe('a thread that another program holds', () => {
  it.for(['an end', 'a wake'] as const)('fails no batch of others once it was found, with %s in it', async (kind) => {
    const { clock, writer, state } = await writerBesideLocks()
    const busy = { isOver: false, count: 0 }
    const call = async (n: number) => {
      while (!busy.isOver) {
        await asked(writer, `busy-${n}`)
        busy.count += 1
      }
    }
    const calls = Promise.all(Array.from({ length: 8 }, (_, n) => call(n)))
    const decide = (live: LiveThread) => {
      if (kind === 'a wake') for (const _ of live.untaken()) break
      return { unit: unitIn(live), value: undefined }
    }
    const ended = writer.change({ lane: 'bg_0', thread: keyOf('held'), operation: 'end', isIntent: false, decide })
    await clock.advance(3_000)
    state.failed.length = 0
    busy.count = 0
    await clock.advance(10_000)
    expect(new Set(state.failed)).toEqual(new Set([1]))
    expect(busy.count).toBeGreaterThan(1_000)
    state.isOver = true
    await clock.advance(3_000)
    busy.isOver = true
    await clock.advance(1_000)
    await Promise.all([calls, ended])
  })

  it('refuses at once what is asked of it while it rests', async () => {
    const { clock, writer, emit } = await writerBesideLocks()
    emit('held')
    await clock.advance(lockMs + 2 * commitMs)
    await expect(asked(writer, 'held')).rejects.toMatchObject({ code: 'store_unavailable' })
    await writer.close()
  })

  it('makes no crowd for others, whatever waits for it', async () => {
    const { clock, writer, emit } = await writerBesideLocks()
    for (let n = 0; n < 40; n += 1) emit('held', 32 * 1024)
    expect(writer.isCrowded).toBe(true)
    await clock.advance(10_000)
    expect([writer.isLocked(keyOf('held')), writer.isLocked(keyOf('free')), writer.isCrowded]).toEqual([
      true,
      false,
      false,
    ])
    for (let n = 0; n < 20; n += 1) emit('free', 32 * 1024)
    expect(writer.isCrowded).toBe(true)
    await writer.close()
  })

  it('is tried again soon where it was free between two times', async () => {
    const { clock, writer, state, emit } = await writerBesideLocks()
    emit('held')
    await clock.advance(20_000)
    state.isOver = true
    await clock.advance(3_000)
    state.isOver = false
    state.failed.length = 0
    emit('held')
    // One that was never written to in between would rest for two seconds each time.
    await clock.advance(1_000)
    expect(state.failed.length).toBeGreaterThan(2)
    await writer.close()
  })
})
