import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Decision } from '../../../src/core/decision.ts'
import type { ThreadKey } from '../../../src/core/id.ts'
import type { LiveThread } from '../../../src/core/live-thread.ts'
import type { Unit } from '../../../src/core/unit.ts'
import { nextTurn } from '../../../src/runtime/clock.ts'
import type { Writer } from '../../../src/runtime/writer.ts'
import { memoryStore } from '../../../src/stores/memory/index.ts'
import type { Store } from '../../../src/stores/store.ts'
import { faultyStore, manualClock } from '../../../src/testing/index.ts'
import { writerOn } from './writer-on.ts'
import { turns } from './written-log.ts'

const enough = 24

function keyOf(n: number): ThreadKey {
  return `owner/t${n}` as ThreadKey
}

function unitIn(live: LiveThread, thread: ThreadKey, label: string): Unit {
  return { operation: 'cancel', thread, rev: live.rev, events: [{ type: 'custom', data: `"${label}"` }] }
}

function labelOf({ events }: Unit): string {
  return JSON.parse(events[0]?.data ?? '""')
}

function change(writer: Writer, n: number, label: string, onDecided: () => void = () => {}): Promise<unknown> {
  const thread = keyOf(n)
  const decide = (live: LiveThread): Decision<string> => {
    onDecided()
    return { unit: unitIn(live, thread, label), value: label }
  }
  return writer.change({ lane: thread, thread, operation: 'cancel', isIntent: true, decide })
}

/** A writer that knows twice `enough` threads and one more, and what happened: which commits began, and what was told. */
async function knowing({ isShared = true, pause = (_began: string): Promise<unknown> | undefined => undefined } = {}) {
  const inner = faultyStore(memoryStore())
  await inner.open()
  const happened: string[] = []
  const commit: Store['commit'] = async (units) => {
    const began = units.map(labelOf).join()
    happened.push(`began ${began}`)
    await pause(began)
    return inner.commit(units)
  }
  const told = (unit: Unit) => happened.push(`told ${labelOf(unit)}`)
  const writer = writerOn({ ...inner, isShared, commit }, manualClock(0), told)
  await Promise.all(Array.from({ length: 2 * enough + 1 }, (_, n) => change(writer, n, 'known')))
  happened.length = 0
  return { writer, happened, inner }
}

/** While the commit of a change in the first thread is held, changes are asked for in so many others, and another one in the first. */
async function heldUp(
  othersCount: number,
  { isShared = true, firstOther = 1, onHeld = async (_inner: Store): Promise<unknown> => undefined } = {},
) {
  const held = Promise.withResolvers<void>()
  const here = await knowing({ isShared, pause: (began) => (began === 'first' ? held.promise : undefined) })
  const asked = [change(here.writer, 0, 'first')]
  while (!here.happened.includes('began first')) await nextTurn()
  for (let n = 0; n < othersCount; n++) asked.push(change(here.writer, firstOther + n, 'other'))
  asked.push(change(here.writer, 0, 'second'))
  await onHeld(here.inner)
  held.resolve()
  await Promise.all(asked)
  return here.happened
}

const others = (count: number) => Array.from({ length: count }, () => 'other')

describe('a batch of changes that nobody was told of', () => {
  it('W6 has the next one on its way, in which nothing is decided in its threads', async () => {
    const happened = await heldUp(enough)
    expect(happened.slice(0, 3)).toEqual(['began first', `began ${others(enough)}`, 'told first'])
    expect(happened.filter((what) => what === 'told other')).toHaveLength(enough)
    expect(happened.slice(-2)).toEqual(['began second', 'told second'])
  })

  it('is told first where fewer wait', async () => {
    const happened = await heldUp(enough - 1)
    expect(happened.slice(0, 2)).toEqual(['began first', 'told first'])
  })

  it('is told first where all that waits but one has to be read', async () => {
    const happened = await heldUp(enough + 1, { firstOther: 2 * enough })
    expect(happened.slice(0, 2)).toEqual(['began first', 'told first'])
  })

  it('is told first where the store commits on the cores of this machine', async () => {
    const happened = await heldUp(enough, { isShared: false })
    expect(happened.slice(0, 2)).toEqual(['began first', 'told first'])
  })

  it('is told first where something of it was refused, and that is decided again', async () => {
    const byOther = (inner: Store) => {
      return inner.commit([
        { operation: 'cancel', thread: keyOf(0), rev: 1, events: [{ type: 'custom', data: '"x"' }] },
      ])
    }
    const happened = await heldUp(enough, { onHeld: byOther })
    expect(happened[0]).toBe('began first')
    expect(happened[1]).toMatch(/^began .*\bfirst\b/)
    expect(happened.filter((what) => what === 'told first')).toHaveLength(1)
  })

  it('is told first where it left something to be read, which is then in the next one', async () => {
    const holds = { first: Promise.withResolvers<void>(), other: Promise.withResolvers<void>() }
    const here = await knowing({
      pause: (began) =>
        (began === 'first' ? holds.first : began.startsWith('other') ? holds.other : undefined)?.promise,
    })
    const began = () => here.happened.filter((what) => what.startsWith('began'))
    const asked = [change(here.writer, 0, 'first')]
    while (began().length < 1) await nextTurn()
    asked.push(change(here.writer, 2 * enough + 1, 'unread'))
    for (let n = 1; n <= enough; n++) asked.push(change(here.writer, n, 'other'))
    holds.first.resolve()
    while (began().length < 2) await nextTurn()
    for (let n = enough + 1; n <= 2 * enough; n++) asked.push(change(here.writer, n, 'more'))
    holds.other.resolve()
    await Promise.all(asked)
    expect(began()[1]).toBe(`began ${others(enough)}`)
    expect(began()[2]).toContain('unread')
    expect(began()).toHaveLength(3)
  })

  it('W1 W3 changes no order: each change once, in a thread in the order asked for, decided from what was committed', async () => {
    const asking = fc.record({
      thread: fc.oneof(fc.constantFrom(0, 1), fc.integer({ min: 0, max: 2 * enough + 5 })),
      by: fc.integer({ min: 0, max: 39 }).map((n) => (n === 0 ? 'another node' : 'a caller')),
    })
    // Commits and pauses between bursts take so many turns of the event loop.
    const turnCount = fc.integer({ min: 0, max: 6 })
    const bursts = fc.array(fc.record({ after: turnCount, all: fc.array(asking, { maxLength: 100, size: 'max' }) }), {
      minLength: 2,
      maxLength: 8,
    })
    const commits = fc.array(turnCount, { minLength: 1, maxLength: 10 })
    let followedCount = 0
    const property = fc.asyncProperty(bursts, commits, async (given, took) => {
      let commitCount = 0
      const { writer, happened, inner } = await knowing({ pause: () => turns(took[commitCount++ % took.length]) })
      const wanted: string[] = []
      const ask = async (thread: number, label: string): Promise<unknown> => {
        wanted.push(label)
        return await change(writer, thread, label)
      }
      const overtake = async (thread: number): Promise<unknown> => {
        const rev = (await inner.livePart(keyOf(thread)))?.rev ?? 0
        const events = [{ type: 'custom' as const, data: '"by another node"' }]
        return await inner.commit([{ operation: 'cancel', thread: keyOf(thread), rev, events }])
      }
      const asked: Promise<unknown>[] = []
      for (const [n, { after, all }] of given.entries()) {
        await turns(after)
        for (const [m, { thread, by }] of all.entries())
          asked.push(by === 'a caller' ? ask(thread, `${thread}.${n}.${m}`) : overtake(thread))
      }
      await Promise.all(asked)
      const told = happened.filter((what) => what.startsWith('told')).map((what) => what.slice('told '.length))
      expect(told.toSorted()).toEqual(wanted.toSorted())
      for (const thread of new Set(wanted.map((label) => label.split('.')[0]))) {
        const isOf = (label: string) => label.startsWith(`${thread}.`)
        const { events } = await inner.events(keyOf(Number(thread)), { after: 0, limit: 1000 })
        const stored = events.map(({ data }) => JSON.parse(data) as string).filter(isOf)
        expect(stored).toEqual(wanted.filter(isOf))
        expect(told.filter(isOf)).toEqual(stored)
      }
      if (happened.some((what, n) => what.startsWith('began') && happened[n - 1]?.startsWith('began')))
        followedCount += 1
    })
    await fc.assert(property, { numRuns: 100 })
    expect(followedCount).toBeGreaterThan(0)
  })
})
