import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type AttachItem, type AttachOptions, createClient } from '../../../src/client/index.ts'
import type { ThreadEvent } from '../../../src/client/thread-event.ts'
import { manualClock } from '../../../src/testing/manual-clock.ts'
import { event } from './events.ts'
import { FakeServer, type Life } from './fake-server.ts'

const transports = ['websocket', 'sse'] as const

// Enough for any planned run of failures: each makes the wait longer, up to 15 s.
const patienceMs = 600_000

/** A log of two tasks, with text that is cut in the middle of its characters. */
function logOf(length: number): ThreadEvent[] {
  return Array.from({ length }, (_, index) => {
    const seq = index + 1
    const place = { seq, task: `bg_${seq % 2}` }
    // The last event of each task ends it.
    if (seq > length - 2) return event('task.completed', {}, place)
    return seq % 3 === 0
      ? event('custom', { name: 'n', payload: '€' }, place)
      : event('text.delta', { text: `é😀${seq}` }, place)
  })
}

interface Plan {
  readonly length: number
  readonly known: number
  readonly lives: readonly Life[]
  readonly options: AttachOptions
}

const plans: fc.Arbitrary<Plan> = fc
  .record({ length: fc.integer({ min: 2, max: 12 }), known: fc.nat(12), start: fc.nat(12), isPictured: fc.boolean() })
  .chain(({ length, known, start, isPictured }) =>
    fc.record({
      length: fc.constant(length),
      known: fc.constant(Math.min(known, length)),
      lives: fc.array(fc.integer({ min: -1, max: 400 }), { maxLength: 10 }),
      options: fc.record(
        {
          ...(!isPictured && { after: fc.constant(Math.min(start, known, length)) }),
          task: fc.constant('bg_0'),
          types: fc.constant(['custom']),
        },
        { requiredKeys: isPictured ? [] : (['after'] as never[]) },
      ),
    }),
  )

/** What of a log passes the filter of an attachment. */
function wantedOf(log: readonly ThreadEvent[], { task, types }: AttachOptions): ThreadEvent[] {
  const isEnd = ({ type }: ThreadEvent) => task !== undefined && type === 'task.completed'
  const ofTask = log.filter((each) => task === undefined || each.task === task)
  return ofTask.filter((each) => !types || types.includes(each.type) || isEnd(each))
}

/** Takes all that comes. Only a task ends an attachment, so without one this leaves after the last that can come. */
async function follow(items: AsyncIterable<AttachItem>, last: number): Promise<AttachItem[]> {
  const taken: AttachItem[] = []
  for await (const item of items) {
    taken.push(item)
    // A snapshot that comes again moves nobody's place.
    const isStart = taken.length === 1 && item.type === 'snapshot'
    if (('seq' in item && item.seq >= last) || (isStart && item.head >= last)) break
  }
  return taken
}

describe.each(transports)('an attachment over %s', (transport) => {
  it('EVNT-06 gives each number once and in order, wherever its connections are cut', async () => {
    await fc.assert(
      fc.asyncProperty(plans, async ({ length, known, lives, options }) => {
        const clock = manualClock()
        const server = new FakeServer()
        const log = logOf(length)
        for (const each of log.slice(0, known)) server.append(each)
        // A socket dies after so many frames, a stream after so many bytes.
        server.lives = transport === 'sse' ? [...lives] : lives.map((life) => (life < 0 ? life : life % 8))
        const { fetch, WebSocket } = server
        const client = createClient({ url: 'http://server', transport, fetch, WebSocket, clock, random: () => 0.5 })
        const wanted = wantedOf(log, options)
        const last = wanted.at(-1)?.seq ?? 0
        fc.pre(options.task !== undefined || (options.after ?? 0) < last)
        let taken: readonly AttachItem[] | undefined
        const following = follow(client.thread('t').attach(options), options.task === undefined ? last : Infinity)
        void following.then((all) => {
          taken = all
        })
        for (let ms = 0; !taken && ms < patienceMs; ms += 1_000) {
          await clock.advance(1_000)
          const next = log[server.log.length]
          if (next) server.append(next)
        }
        const snapshot = taken?.find((item) => item.type === 'snapshot')
        const start = options.after ?? (snapshot?.type === 'snapshot' ? snapshot.head : Number.NaN)
        const events = taken?.filter((item) => 'seq' in item)
        expect(events).toEqual(wanted.filter(({ seq }) => seq > start))
        const others = taken?.filter((item) => !('seq' in item)).map(({ type }) => type)
        expect([...new Set(others)]).toEqual(options.after === undefined ? ['snapshot'] : [])
        client.close()
        await clock.advance(0)
        expect(clock.pendingTimerCount).toBe(0)
        expect(server.followerCount).toBe(0)
      }),
      { numRuns: 400 },
    )
  }, 60_000)
})
