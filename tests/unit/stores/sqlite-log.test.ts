import { mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { StoredEvent } from '../../../src/core/event.ts'
import { type TaskId, taskId, threadId, threadKey } from '../../../src/core/id.ts'
import type { Unit } from '../../../src/core/unit.ts'
import { sqliteStore } from '../../../src/stores/sqlite/index.ts'
import { chunkCounts } from '../../../src/stores/sqlite/thread-writes.ts'
import type { Store } from '../../../src/stores/store.ts'
import { alice, commit, event, home, logOf, numbersOf, unit, upTo } from '../../../src/testing/store-suite/builders.ts'

let folder: string
let path: string
let store: Store

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'holdfast-'))
  path = join(folder, 'store.db')
  store = sqliteStore({ path })
  await store.open()
})

afterEach(async () => {
  await store.close()
  rmSync(folder, { recursive: true, force: true })
})

/** Events whose data has so many bytes. */
function sized(count: number, bytes: number, task?: string): Unit['events'] {
  const data = JSON.stringify('x'.repeat(bytes - 2))
  return Array.from({ length: count }, () => event('custom', task, { data }))
}

describe('the pages of a log', () => {
  it('end before they hold much more than a mebibyte, and leave nothing out', async () => {
    await commit(store, unit({ events: sized(40, 100_000) }))
    const page = await store.events(home, { after: 0, limit: 1000 })
    const bytes = page.events.reduce((sum, { data }) => sum + data.length, 0)
    expect(bytes).toBeGreaterThan(1_000_000)
    expect(bytes).toBeLessThan(1_200_000)
    expect(page.upTo).toBe(page.events.length)
    expect(numbersOf(await logOf(store))).toEqual(upTo(40))
  })

  it('hold at least one event, however large it is', async () => {
    await commit(store, unit({ events: sized(2, 3_000_000) }))
    const { events, upTo } = await store.events(home, { after: 0, limit: 1000 })
    expect([numbersOf(events), upTo]).toEqual([[1], 1])
  })

  it('find what a task emitted behind many mebibytes of others', async () => {
    const task = (id: string): TaskId => taskId(id)
    await commit(store, unit({ events: [...sized(1, 10, 'bg_1'), ...sized(60, 200_000, 'bg_2')] }))
    await commit(store, unit({ events: sized(1, 10, 'bg_1') }))
    const range = { id: task('bg_1'), first: 1, last: 62 }
    const page = await store.events(home, { after: 1, limit: 10, task: range })
    expect([numbersOf(page.events), page.upTo]).toEqual([[62], 62])
    const none = await store.events(home, { after: 0, limit: 10, task: { ...range, id: task('bg_3') } })
    expect([numbersOf(none.events), none.upTo]).toEqual([[], 62])
  })
})

describe('the lines of a commit', () => {
  const other = threadKey(alice, threadId('other'))

  /** Long or short events that can be told apart, in characters of one to four bytes. */
  function told(count: number, name: string, length: number, task?: string): Unit['events'] {
    const data = (n: number) => JSON.stringify(`${name} ${n} ${'aé€𝄞'.repeat(length)}`)
    return Array.from({ length: count }, (_, n) => event('custom', task, { data: data(n) }))
  }

  const shown = ({ type, task, data }: Unit['events'][number]) => ({ type, task, data })

  it.each([1, 30, 2_000, 40_000])(
    'are what was given, %i signs long, where units of two threads take turns',
    async (length) => {
      const count = Math.ceil(200_000 / (length + 4_000))
      const first = [...told(count, 'a', length, 'bg_1'), ...told(count, 'b', length), ...told(1, 'c', length, 'bg_2')]
      const [second, third] = [told(count, 'd', length, 'bg_2'), told(2, 'e', length, 'bg_2')]
      const [events, others] = [[...first, ...second, ...third], told(3, 'f', length)]
      await commit(
        store,
        unit({ events: first }),
        unit({ thread: other, events: others }),
        unit({ events: second }),
        unit({ events: third }),
      )
      expect((await wholeLog(home)).map(shown)).toEqual(events.map(shown))
      expect((await wholeLog(other)).map(shown)).toEqual(others.map(shown))
    },
  )

  it('are those of each commit where several are asked for at once', async () => {
    const commits = ['a', 'b', 'c', 'd'].map((name) => told(400, name, 50))
    const begun = commits.map((events) => commit(store, unit({ events })))
    await begun[0]
    const last = told(1000, 'e', 100)
    await Promise.all([...begun, commit(store, unit({ events: last }))])
    expect((await wholeLog(home)).map(shown)).toEqual([...commits.flat(), ...last].map(shown))
  })

  it('hold no line feed: such an event fails its batch, of which nothing is written', async () => {
    const bad = event('custom', undefined, { data: '{\n}' })
    await expect(store.commit([unit({ events: told(2, 'a', 1) }), unit({ events: [bad] })])).rejects.toThrow(
      'line feed',
    )
    await commit(store, unit({ events: told(2, 'b', 1) }))
    expect((await wholeLog(home)).map(shown)).toEqual(told(2, 'b', 1).map(shown))
  })

  async function wholeLog(key: typeof home): Promise<StoredEvent[]> {
    const events: StoredEvent[] = []
    for (;;) {
      const page = await store.events(key, { after: events.length, limit: 1000 })
      if (page.events.length === 0) return events
      events.push(...page.events)
    }
  }
})

describe('the rows of a log', () => {
  it('hold what a commit adds to a thread in one row if it is little', () => {
    expect(chunkCounts([301, 301])).toEqual([2])
    expect(chunkCounts([])).toEqual([])
  })

  it('are short if it is more, so that they pack into pages', () => {
    expect(chunkCounts(Array.from({ length: 5 }, () => 301))).toEqual([2, 2, 1])
  })

  it('are long if it is much, with a limit', () => {
    expect(chunkCounts(Array.from({ length: 100 }, () => 301))).toEqual([100])
    expect(chunkCounts(Array.from({ length: 500 }, () => 301))).toEqual([217, 217, 66])
  })

  it('hold a line of any length', () => {
    expect(chunkCounts([2, 200_001, 2])).toEqual([1, 1, 1])
  })

  it.each([1, 5, 13, 40])('take at most 1.3 bytes on disk per byte of events, %i to a commit', async (count) => {
    const threads = Array.from({ length: 20 }, (_, n) => threadKey(alice, threadId(`thread-${n}`)))
    const batch = threads.map((thread) => unit({ thread, events: sized(count, 300, 'bg_1') }))
    await store.close()
    const emptyBytes = statSync(path).size
    await store.open()
    let eventCount = 0
    for (; eventCount < 10_000; eventCount += 20 * count) await commit(store, ...batch)
    await store.close()
    expect((statSync(path).size - emptyBytes) / (eventCount * 300)).toBeLessThan(1.3)
  })
})
