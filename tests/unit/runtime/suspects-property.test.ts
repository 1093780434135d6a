import fc from 'fast-check'
import { expect, it } from 'vitest'
import { HoldfastError } from '../../../src/core/errors.ts'
import { type ThreadKey, taskId } from '../../../src/core/id.ts'
import type { LiveThread } from '../../../src/core/live-thread.ts'
import type { Unit } from '../../../src/core/unit.ts'
import { nextTurn } from '../../../src/runtime/clock.ts'
import type { Author } from '../../../src/runtime/entry.ts'
import type { Writer } from '../../../src/runtime/writer.ts'
import { memoryStore } from '../../../src/stores/memory/index.ts'
import type { Store } from '../../../src/stores/store.ts'
import { manualClock } from '../../../src/testing/index.ts'
import { writerOn } from './writer-on.ts'

const act = fc.record({
  kind: fc.constantFrom('emit', 'step', 'end', 'intent'),
  thread: fc.integer({ min: 0, max: 3 }),
  isBad: fc.boolean(),
  turns: fc.integer({ min: 0, max: 3 }),
})

const plan = fc.record({
  acts: fc.array(act, { minLength: 1, maxLength: 40 }),
  locked: fc.uniqueArray(fc.integer({ min: 0, max: 3 }), { maxLength: 2 }),
  awayAt: fc.option(fc.integer({ min: 0, max: 39 })),
})

const keyOf = (thread: number) => `owner/t${thread}` as ThreadKey
const isBad = (unit: Unit) => unit.events.some(({ data }) => data.endsWith('!'))

/** Takes everything but what is bad, or held, or comes while it is away. Writes down what was committed, by thread. */
function storeOf(
  inner: Store,
  faults: { locked: Set<ThreadKey>; isAway: boolean; commits: number },
  written: string[],
) {
  const commit: Store['commit'] = async (units) => {
    faults.commits += 1
    await nextTurn()
    if (faults.isAway) throw new HoldfastError('store_unavailable', 'It is away')
    if (units.some(({ thread }) => faults.locked.has(thread))) throw new HoldfastError('thread_locked', 'It is held')
    if (units.some(isBad)) throw new Error('value out of range')
    return units.map((unit) => {
      written.push(...unit.events.map(({ data }) => data))
      return { committed: true, first: written.length, at: 0, taken: [] }
    })
  }
  return { ...inner, commit }
}

function authorOf(thread: number, lost: string[]): Author {
  return {
    task: taskId(`bg_${thread}`),
    epoch: 1,
    thread: keyOf(thread),
    flushed: () => {},
    fenced: () => {},
    unstorable: (_error, events) => lost.push(...events.map(({ data }) => data)),
  }
}

function begin(writer: Writer, { kind, thread }: { kind: string; thread: number }, data: string, author: Author) {
  const { task } = author
  if (kind === 'emit') return writer.emit(author, { type: 'custom', task, data }, 1, undefined)
  const step = { task, key: data, kind: 'step', value: '1', overlapped: false, attempt: 1, seq: 0 } as const
  if (kind === 'step') {
    writer.emit(author, { type: 'custom', task, data }, 1, undefined)
    return writer.record(author, [step])
  }
  const key = keyOf(thread)
  const decide = (live: LiveThread) => ({
    unit: { operation: 'end', thread: key, rev: live.rev, events: [{ type: 'custom', data }] } as Unit,
    value: undefined,
  })
  const isIntent = kind === 'intent'
  return writer.change({ lane: isIntent ? key : task, thread: key, operation: 'end', isIntent, decide })
}

it('whatever fails, all is settled when it is over: committed once, in the order of its lane, or told to have failed', async () => {
  await fc.assert(
    fc.asyncProperty(plan, async ({ acts, locked, awayAt }) => {
      const [written, lost]: [string[], string[]] = [[], []]
      const faults = { locked: new Set(locked.map(keyOf)), isAway: false, commits: 0 }
      const inner = memoryStore()
      await inner.open()
      const clock = manualClock(0)
      const store = storeOf({ ...inner, livePart: async () => undefined, clock: inner.clock }, faults, written)
      const writer = writerOn(store, clock)
      const authors = [0, 1, 2, 3].map((thread) => authorOf(thread, lost))
      const asks: { data: string; kind: string; answer: Promise<unknown> }[] = []
      for (const [n, each] of acts.entries()) {
        faults.isAway = n === awayAt
        const data = `${each.thread}-${each.kind === 'intent' ? 'i' : 't'}-${n}${each.isBad && each.kind !== 'emit' ? '!' : ''}`
        const answer = Promise.resolve(begin(writer, each, data, authors[each.thread] as Author))
        asks.push({
          data,
          kind: each.kind,
          answer: answer.then(
            () => 'done',
            (error: unknown) => error,
          ),
        })
        for (let turn = 0; turn < each.turns; turn += 1) await nextTurn()
      }
      faults.isAway = false
      for (let n = 0; n < 8; n += 1) await clock.advance(1_000)
      const whileLocked = faults.commits
      faults.locked.clear()
      for (let n = 0; n < 8; n += 1) await clock.advance(1_000)
      const answers = await Promise.all(asks.map(({ answer }) => answer))
      await writer.settled()

      expect(new Set(written).size).toBe(written.length)
      for (const thread of [0, 1, 2, 3]) {
        for (const lane of ['i', 't']) {
          const numbers = written
            .filter((data) => data.startsWith(`${thread}-${lane}-`))
            .map((data) => parseInt(data.slice(4), 10))
          expect(numbers).toEqual(numbers.toSorted((a, b) => a - b))
        }
      }
      for (const [n, { data, kind }] of asks.entries()) {
        const isWritten = written.includes(data)
        if (kind === 'emit') expect(isWritten || lost.includes(data)).toBe(true)
        else expect([data, answers[n] === 'done']).toEqual([data, isWritten])
        if (!data.endsWith('!') && kind !== 'intent' && !lost.includes(data))
          expect([data, isWritten]).toEqual([data, true])
      }
      expect(whileLocked).toBeLessThan(acts.length * 12 + 60)
      await writer.close()
    }),
    { numRuns: 150 },
  )
})
