import fc from 'fast-check'
import { expect, it } from 'vitest'
import { taskId } from '../../../src/core/id.ts'
import type { LogCursor } from '../../../src/runtime/log-cursor.ts'
import type { LogEntry } from '../../../src/runtime/log-entry.ts'
import { entriesOf, LogStretch } from '../../../src/runtime/log-stretch.ts'
import { keyOf, type Line, playOut, turns, WrittenLog } from './written-log.ts'

const key = keyOf('t')
const lastBurst = 8
const batchLengthMax = 256 * 1024

const line = fc.record({
  type: fc.constantFrom('text.delta' as const, 'custom' as const),
  task: fc.constantFrom('bg_0', 'bg_1'),
  length: fc.constantFrom(1, 1, 1, 100_000, 300_000),
})

/** Who wrote it, as this node learns of it. */
const burst = fc.record({
  lines: fc.array(line, { minLength: 1, maxLength: 6 }),
  by: fc.constantFrom(
    'this node',
    'this node',
    'another node',
    'another node, with its row',
    'another node, its hint lost',
  ),
  ends: fc.constantFrom(undefined, undefined, 'bg_0'),
})

const reader = fc.record({
  /** It comes when so many bursts were written, behind the head of that moment by so much. */
  burst: fc.nat(lastBurst),
  behind: fc.nat(30),
  task: fc.constantFrom(undefined, undefined, 'bg_0'),
  types: fc.constantFrom(undefined, undefined, ['custom'], ['nothing']),
  /** It leaves after so many batches. */
  leavesAfter: fc.constantFrom(undefined, undefined, 0, 1, 3),
})

type Burst = typeof burst extends fc.Arbitrary<infer Value> ? Value : never
type Reader = typeof reader extends fc.Arbitrary<infer Value> ? Value : never

interface Watched {
  readonly reader: Reader
  readonly after: number
  readonly seen: LogEntry[]
  cursor?: LogCursor
  hasLeft: boolean
}

/** Each of these is done in an order that the property chooses. */
type Pause = () => Promise<unknown>

it('C1 every cursor sees each number that matches once and in order, however writes, reads and closes interleave', async () => {
  const property = fc.asyncProperty(
    fc.scheduler(),
    fc.array(burst, { minLength: 1, maxLength: 8 }),
    fc.array(reader, { minLength: 1, maxLength: 5 }),
    fc.integer({ min: 1, max: 8 }),
    fc.constantFrom(undefined, 1, 3),
    async (scheduler, bursts, readers, pageEvents, rowEvents) => {
      const pause = () => scheduler.schedule(Promise.resolve())
      const here = await WrittenLog.open({ pause, pageEvents, rowEvents })
      const watched: Watched[] = []
      const work = new Set<unknown>()
      const begin = (doing: Promise<void>) => {
        work.add(doing)
        void doing.then(() => work.delete(doing))
      }
      const come = (reader: Reader) => {
        const after = Math.max(0, here.head(key) - reader.behind)
        const each: Watched = { reader, after, seen: [], hasLeft: false }
        watched.push(each)
        begin(watch(here, each, pause))
      }
      begin(writeAll(here, bursts, (n) => readers.filter((each) => each.burst === n).forEach(come), pause))
      await playOut(scheduler)
      for (const each of watched) expectExact(here, each)
      for (const { cursor } of watched) cursor?.close()
      await turns(3)
      expect([work.size, here.feed.streamCount, here.feed.watchersOf(key)]).toEqual([0, 0, 0])
    },
  )
  await fc.assert(property, { numRuns: 500 })
}, 60_000)

async function writeAll(
  here: WrittenLog,
  bursts: readonly Burst[],
  onBurst: (n: number) => void,
  pause: Pause,
): Promise<void> {
  let hasEnded = false
  for (const [n, { lines, by, ends }] of bursts.entries()) {
    onBurst(n)
    const end: readonly Line[] = ends === undefined || hasEnded ? [] : [{ task: ends, type: 'task.completed' }]
    const left = lines.filter(({ task }) => !hasEnded || task !== 'bg_0')
    hasEnded ||= end.length > 0
    await pause()
    const after = await here.commit(key, [...left, ...end])
    await pause()
    if (by === 'this node') after.publish()
    if (by === 'another node') after.hint()
    if (by === 'another node, with its row') after.row()
  }
  for (let n = bursts.length; n <= lastBurst; n += 1) onBurst(n)
}

async function watch(here: WrittenLog, each: Watched, pause: Pause): Promise<void> {
  const { task, types, leavesAfter } = each.reader
  const cursor = await here.feed.open(key, {
    after: each.after,
    ...(task !== undefined && { task: { id: taskId(task), first: 1, last: Number.MAX_SAFE_INTEGER } }),
    ...(types && { types: new Set(types) }),
  })
  each.cursor = cursor
  for (let batchCount = 0; ; batchCount += 1) {
    // It leaves while it waits for the next batch, or for a page.
    if (batchCount === leavesAfter) void pause().then(() => leave(each))
    const batch = await cursor.next()
    if (!batch) return
    const entries = entriesOf(batch)
    expect(entries.length).toBeGreaterThan(0)
    // A row is handed out whole.
    if (!(batch instanceof LogStretch)) expect(batch.length === 1 || sizeOf(batch) <= batchLengthMax).toBe(true)
    each.seen.push(...entries)
    await pause()
  }
}

function leave(each: Watched): void {
  each.hasLeft = true
  each.cursor?.close()
}

function sizeOf(batch: readonly LogEntry[]): number {
  return batch.reduce((sum, entry) => sum + entry.text.length, 0)
}

function expected(here: WrittenLog, { reader: { task, types }, after }: Watched): number[] {
  const log = here.log.get(key) ?? []
  const isEnd = (type: string) => task !== undefined && type === 'task.completed'
  return log
    .filter((event) => event.seq > after && (task === undefined || event.task === task))
    .filter(({ type }) => types === undefined || (types as readonly string[]).includes(type) || isEnd(type))
    .map(({ seq }) => seq)
}

function expectExact(here: WrittenLog, each: Watched): void {
  const all = expected(here, each)
  const seen = each.seen.map(({ seq }) => seq)
  expect(seen).toEqual(all.slice(0, seen.length))
  const toldCount = all.filter((seq) => seq <= (here.told.get(key)?.upTo ?? 0)).length
  if (!each.hasLeft) expect(seen.length).toBeGreaterThanOrEqual(toldCount)
  expect(each.cursor).toBeDefined()
  const hasEnd = each.reader.task !== undefined && each.seen.at(-1)?.type === 'task.completed'
  if (hasEnd) expect(each.cursor?.isOver).toBe(true)
}
