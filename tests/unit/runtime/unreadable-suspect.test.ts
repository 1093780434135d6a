import { expect, it } from 'vitest'
import type { ThreadKey } from '../../../src/core/id.ts'
import type { LiveThread } from '../../../src/core/live-thread.ts'
import { nextTurn } from '../../../src/runtime/clock.ts'
import { memoryStore } from '../../../src/stores/memory/index.ts'
import type { Store } from '../../../src/stores/store.ts'
import { faultyStore, manualClock } from '../../../src/testing/index.ts'
import { writerOn } from './writer-on.ts'

const keyOf = (name: string) => `owner/${name}` as ThreadKey

async function turns(count: number): Promise<void> {
  for (let turn = 0; turn < count; turn++) await nextTurn()
}

/** A batch of torn, good and bad fails because of bad; torn cannot be read any more from then on. */
async function tornAmongSuspects() {
  const inner = faultyStore(memoryStore())
  await inner.open()
  let isUnreadable = false
  const commit: Store['commit'] = async (units) => {
    if (units.some((unit) => unit.thread === keyOf('bad'))) {
      isUnreadable = true
      throw new Error('value out of range')
    }
    return units.map(() => ({ committed: true, first: 1, at: 0, taken: [] }))
  }
  const livePart: Store['livePart'] = async (key) => {
    if (isUnreadable && key === keyOf('torn')) throw new Error('a row cannot be read')
    return inner.livePart(key)
  }
  const clock = manualClock(0)
  const writer = writerOn({ ...inner, commit, livePart }, clock)
  const settled: string[] = []
  const ask = (name: string, isIntent: boolean) => {
    const thread = keyOf(name)
    const decide = (live: LiveThread) => ({
      unit: { operation: 'cancel' as const, thread, rev: live.rev, events: [{ type: 'custom' as const, data: '{}' }] },
      value: undefined,
    })
    const done = writer.change({ lane: thread, thread, operation: 'cancel', isIntent, decide })
    void done.then(
      () => settled.push(name),
      () => settled.push(`${name} refused`),
    )
  }
  ask('torn', false)
  ask('good', false)
  ask('bad', true)
  await turns(100)
  await clock.advance(60_000)
  await turns(100)
  return { writer, clock, settled }
}

it('U1 what failed along with a thread that cannot be read any more is settled', async () => {
  const { settled } = await tornAmongSuspects()
  expect(settled.sort()).toEqual(['bad refused', 'good'])
})

it('a writer closes though a suspect cannot be read', async () => {
  const { writer, clock } = await tornAmongSuspects()
  let isClosed = false
  void writer.close().then(() => {
    isClosed = true
  })
  await turns(100)
  await clock.advance(60_000)
  expect(isClosed).toBe(true)
})
