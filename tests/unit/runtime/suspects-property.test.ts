import fc from 'fast-check'
import { expect, it } from 'vitest'
import { HoldfastError } from '../../../src/core/errors.ts'
import { type ThreadKey, taskId } from '../../../src/core/id.ts'
import type { LiveThread } from '../../../src/core/live-thread.ts'
import type { Unit } from '../../../src/core/unit.ts'
import { type Clock, expiry, nextTurn } from '../../../src/runtime/clock.ts'
import type { Author } from '../../../src/runtime/entry.ts'
import type { Writer } from '../../../src/runtime/writer.ts'
import { memoryStore } from '../../../src/stores/memory/index.ts'
import type { Store } from '../../../src/stores/store.ts'
import { type ManualClock, manualClock } from '../../../src/testing/index.ts'
import { writerOn } from './writer-on.ts'

const threadMax = 39
// Few threads have much written to each, many are locked at the same time.
const someThread = fc.oneof(fc.integer({ min: 0, max: 3 }), fc.integer({ min: 0, max: threadMax }))

const act = fc.record({
  kind: fc.constantFrom('emit', 'step', 'end', 'wake', 'intent'),
  thread: someThread,
  isBad: fc.boolean(),
  turns: fc.integer({ min: 0, max: 3 }),
})

const plan = fc.record({
  acts: fc.oneof(fc.array(act, { minLength: 1, maxLength: 40 }), fc.array(act, { minLength: 60, maxLength: 120 })),
  locked: fc.oneof(
    fc.uniqueArray(fc.integer({ min: 0, max: 3 }), { maxLength: 2 }),
    fc.uniqueArray(fc.integer({ min: 0, max: threadMax }), { minLength: 16, maxLength: threadMax - 5 }),
  ),
  torn: fc.uniqueArray(fc.integer({ min: 0, max: 3 }), { maxLength: 2 }),
  awayAt: fc.option(fc.integer({ min: 0, max: 39 })),
})

type Plan = typeof plan extends fc.Arbitrary<infer Value> ? Value : never

const keyOf = (thread: number) => `owner/t${thread}` as ThreadKey
const isBad = (unit: Unit) => unit.events.some(({ data }) => data.endsWith('!'))

interface Faults {
  readonly locked: Set<ThreadKey>
  /** They cannot be read. */
  readonly torn: Set<ThreadKey>
  readonly written: string[]
  isAway: boolean
  commits: number
}

/**
 * Takes everything but what is bad, or held, or comes while it is away. Writes down what was committed, by thread. For what is held it
 * waits a while, as a database does.
 */
function storeOf(inner: Store, clock: Clock, faults: Faults): Store {
  const { written, locked, torn } = faults
  const livePart = async (key: ThreadKey) => {
    if (torn.has(key) && faults.commits > 0) throw new Error('a row cannot be read')
    return undefined
  }
  const commit: Store['commit'] = async (units) => {
    faults.commits += 1
    await nextTurn()
    if (faults.isAway) throw new HoldfastError('store_unavailable', 'It is away')
    if (units.some(({ thread }) => locked.has(thread))) {
      await expiry(clock, 100).expired
      throw new HoldfastError('thread_locked', 'It is held')
    }
    if (units.some(isBad)) throw new Error('value out of range')
    return units.map((unit) => {
      written.push(...unit.events.map(({ data }) => data))
      return { committed: true, first: written.length, at: 0, taken: [] }
    })
  }
  return { ...inner, commit, livePart, tasks: async () => ({ tasks: [] }), clock: inner.clock }
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
  const decide = (live: LiveThread) => {
    if (kind === 'wake') for (const _ of live.untaken()) break
    const unit: Unit = { operation: 'end', thread: key, rev: live.rev, events: [{ type: 'custom', data }] }
    return { unit, value: undefined }
  }
  const isIntent = kind === 'intent'
  return writer.change({ lane: isIntent ? key : task, thread: key, operation: 'end', isIntent, decide })
}

interface Ask {
  readonly data: string
  readonly kind: string
  readonly thread: number
  readonly answer: Promise<unknown>
  isAnswered: boolean
}

/** Does all that a plan says; resolves when it is asked for. */
async function play({ acts, awayAt }: Pick<Plan, 'acts' | 'awayAt'>, writer: Writer, faults: Faults, lost: string[]) {
  const authors = Array.from({ length: threadMax + 1 }, (_, thread) => authorOf(thread, lost))
  const asks: Ask[] = []
  for (const [n, { kind, thread, isBad, turns }] of acts.entries()) {
    faults.isAway = n === awayAt
    const data = `${thread}-${kind === 'intent' ? 'i' : 't'}-${n}${isBad && kind !== 'emit' ? '!' : ''}`
    const begun = Promise.resolve(begin(writer, { kind, thread }, data, authors[thread] as Author))
    const answer = begun.then(
      () => 'done',
      (error: unknown) => error,
    )
    const ask = { data, kind, thread, answer, isAnswered: false }
    void answer.finally(() => {
      ask.isAnswered = true
    })
    asks.push(ask)
    for (let turn = 0; turn < turns; turn += 1) await nextTurn()
  }
  faults.isAway = false
  return asks
}

async function playedOn(each: Plan) {
  const lost: string[] = []
  const [locked, torn] = [new Set(each.locked.map(keyOf)), new Set(each.torn.map(keyOf))]
  const faults: Faults = { locked, torn, written: [], isAway: false, commits: 0 }
  const inner = memoryStore()
  await inner.open()
  const clock = manualClock(0)
  const writer = writerOn(storeOf(inner, clock, faults), clock)
  const asks = await play(each, writer, faults, lost)
  return { clock, writer, faults, lost, asks }
}

/** Time, and as many turns as commits that take none may need. */
async function goOn(clock: ManualClock, seconds: number): Promise<void> {
  for (let n = 0; n < seconds; n += 1) {
    await clock.advance(1_000)
    for (let turn = 0; turn < 40; turn += 1) await nextTurn()
  }
}

// A bad one in a batch, or a locked thread, is found part by part; a locked one is found once and then tried now and then.
const commitsMax = ({ acts, locked, torn }: Plan) => acts.length * 12 + (locked.length + torn.length) * 12 + 60

it('whatever fails, all is settled when it is over: committed once, in the order of its lane, or told to have failed', async () => {
  await fc.assert(
    fc.asyncProperty(plan, async (each) => {
      const { clock, writer, faults, lost, asks } = await playedOn(each)
      const { written, locked, torn } = faults
      await goOn(clock, 8)
      expect(faults.commits).toBeLessThan(commitsMax(each))
      locked.clear()
      torn.clear()
      await goOn(clock, 20)
      const answers = await Promise.all(asks.map(({ answer }) => answer))
      await writer.settled()

      expect(new Set(written).size).toBe(written.length)
      for (const lane of new Set(asks.map(({ data }) => data.replace(/\d+!?$/, '')))) {
        const numbers = written
          .filter((data) => data.startsWith(lane))
          .map((data) => parseInt(data.slice(lane.length), 10))
        expect(numbers).toEqual(numbers.toSorted((a, b) => a - b))
      }
      for (const [n, { data, kind }] of asks.entries()) {
        const isWritten = written.includes(data)
        if (kind === 'emit') expect(isWritten || lost.includes(data)).toBe(true)
        else expect([data, answers[n] === 'done']).toEqual([data, isWritten])
        if (!data.endsWith('!') && kind !== 'intent' && !lost.includes(data))
          expect([data, isWritten]).toEqual([data, true])
      }
      await writer.close()
    }),
    { numRuns: 150 },
  )
})

it('however many threads are locked or cannot be read, all that is asked of others is settled, and a writer can be closed', async () => {
  await fc.assert(
    fc.asyncProperty(plan, async (each) => {
      const { clock, writer, faults, asks } = await playedOn(each)
      await goOn(clock, 15)
      const isFree = ({ thread }: Ask) => !faults.locked.has(keyOf(thread)) && !faults.torn.has(keyOf(thread))
      expect(asks.filter((ask) => isFree(ask) && !ask.isAnswered).map(({ data }) => data)).toEqual([])
      const late = begin(writer, { kind: 'end', thread: threadMax + 1 }, 'late', authorOf(threadMax + 1, []))
      await clock.advance(1_000)
      expect(faults.written).toContain('late')
      await late
      const closed = writer.close()
      await clock.advance(5_000)
      await closed
      expect(clock.pendingTimerCount).toBe(0)
    }),
    { numRuns: 150 },
  )
})
