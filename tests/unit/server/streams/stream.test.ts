import { setImmediate as nextTurn } from 'node:timers/promises'
import { beforeEach, describe, expect, it } from 'vitest'
import { HoldfastError } from '../../../../src/core/errors.ts'
import { defaultLimits } from '../../../../src/core/limits.ts'
import type { Logger } from '../../../../src/runtime/logger.ts'
import { sse } from '../../../../src/server/streams/encode-batch.ts'
import { Stream } from '../../../../src/server/streams/stream.ts'
import { Streams } from '../../../../src/server/streams/streams.ts'
import { type ManualClock, manualClock } from '../../../../src/testing/manual-clock.ts'
import { FakeSink } from './fake-sink.ts'
import { entry, FakeSource, stretch } from './fake-source.ts'

const kib = 1024

let clock: ManualClock
let streams: Streams
let lines: string[]

beforeEach(() => {
  clock = manualClock()
  lines = []
  const say = (_facts: object, message: string): void => void lines.push(message)
  const log: Logger = { debug: say, info: say, warn: say, error: say }
  streams = new Streams({ clock, log, limits: { ...defaultLimits, streamsPerPrincipal: 2 } })
})

function begin(sink = new FakeSink(), principal = 'alice'): { sink: FakeSink; source: FakeSource } {
  const source = new FakeSource()
  const log: Logger = {
    debug() {},
    info() {},
    warn: (_facts, message) => void lines.push(message),
    error() {},
  }
  Stream.begin({ source, sink, format: sse, place: streams.open(principal), log })
  return { sink, source }
}

async function settled(): Promise<void> {
  for (let turn = 0; turn < 5; turn += 1) await nextTurn()
}

describe('a stream', () => {
  it('writes a batch once, whole', async () => {
    const { sink, source } = begin()
    source.give([entry(1), entry(2), entry(3)])
    await settled()
    expect(sink.written).toHaveLength(1)
    expect(sink.text).toBe('id: 1\ndata: {"seq":1}\n\nid: 2\ndata: {"seq":2}\n\nid: 3\ndata: {"seq":3}\n\n')
  })

  it('shares the bytes of a batch with all who are given it', async () => {
    const [one, other] = [begin(), begin()]
    const batch = [entry(1)]
    one.source.give(batch)
    other.source.give(batch)
    await settled()
    expect(one.sink.written[0]).toBe(other.sink.written[0])
  })

  it('asks for nothing more before a full sink has drained', async () => {
    const { sink, source } = begin(new FakeSink(kib))
    source.give([entry(1, 'x'.repeat(2 * kib))])
    source.give([entry(2)])
    await settled()
    expect(sink.written).toHaveLength(1)
    expect(source.askedCount).toBe(1)
    sink.take(sink.backlog)
    await settled()
    expect(sink.written).toHaveLength(2)
  })

  it('encodes stored events where those before were, once the sink has handed them on', async () => {
    const { sink, source } = begin()
    source.give(stretch(1, ['first']))
    await settled()
    sink.take(sink.backlog)
    source.give(stretch(2, ['second']))
    await settled()
    const [first, second] = sink.written
    expect(second?.buffer).toBe(first?.buffer)
    expect(Buffer.from(second ?? []).toString()).toContain('"second"')
  })

  it('writes over nothing that the sink still holds', async () => {
    const { sink, source } = begin()
    source.give(stretch(1, ['first']))
    source.give(stretch(2, ['second']))
    source.give(stretch(3, ['third']))
    await settled()
    expect(sink.text.match(/"(first|second|third)"/g)).toEqual(['"first"', '"second"', '"third"'])
  })

  it('holds no memory for stored events while it waits for new ones', async () => {
    const { sink, source } = begin()
    source.give(stretch(1, ['first'], true))
    await settled()
    sink.take(sink.backlog)
    source.give(stretch(2, ['second'], true))
    await settled()
    expect(sink.written[1]?.buffer).not.toBe(sink.written[0]?.buffer)
  })

  it('closes its source and gives its place back when the client leaves', async () => {
    const { sink, source } = begin()
    await settled()
    sink.leave()
    await settled()
    expect(source.isClosed).toBe(true)
    expect(streams.count).toBe(0)
    expect(clock.pendingTimerCount).toBe(0)
  })

  it('closes its source when the client leaves while it does not read', async () => {
    const { sink, source } = begin(new FakeSink(1))
    source.give([entry(1)])
    await settled()
    sink.leave()
    await settled()
    expect(source.isClosed).toBe(true)
    expect(source.askedCount).toBe(2)
    expect(sink.written).toHaveLength(1)
  })

  it('ends when its source is over', async () => {
    const { sink, source } = begin()
    source.give([entry(1)])
    await settled()
    source.close()
    await settled()
    expect(sink.isEnded).toBe(true)
    expect(sink.isCut).toBe(false)
  })

  it('is cut when its log cannot be read any more, and says why to whoever operates it', async () => {
    const { sink, source } = begin()
    source.give([entry(1)])
    source.give(new HoldfastError('store_unavailable', 'The store is down'))
    await settled()
    // The regular end would say that the task is over.
    expect(sink.isEnded).toBe(false)
    expect(sink.isCut).toBe(true)
    expect(source.isClosed).toBe(true)
    expect(streams.count).toBe(0)
    expect(lines).toEqual(['a stream was cut because the log could not be read'])
  })

  it('ends without a word when what follows is gone', async () => {
    const { sink, source } = begin()
    source.give(new HoldfastError('offset_gone', 'The log begins at 5'))
    await settled()
    expect(sink.isEnded).toBe(true)
    expect(lines).toEqual([])
  })
})

describe('all streams', () => {
  it('say something within 15 s, however quiet the log is', async () => {
    const { sink, source } = begin()
    for (let beats = 1; beats <= 4; beats += 1) {
      await clock.advance(15_000)
      sink.take(sink.backlog)
      expect(sink.written.length).toBeGreaterThanOrEqual(beats)
    }
    expect(new Set(sink.written.map((bytes) => Buffer.from(bytes).toString()))).toEqual(new Set([':\n\n']))
    source.give([entry(1)])
    await settled()
    const { length } = sink.written
    sink.take(sink.backlog)
    await clock.advance(15_000)
    expect(sink.written.length).toBeGreaterThan(length)
  })

  it('send a comment within 15 s, however busy the log is', async () => {
    const { sink, source } = begin()
    for (let n = 1; n <= 5; n += 1) {
      await clock.advance(3_000)
      source.give([entry(n)])
      await settled()
      sink.take(sink.backlog)
    }
    expect(sink.written.map((bytes) => Buffer.from(bytes).toString())).toContain(':\n\n')
  })

  it('say nothing more to a reader that has yet to take something', async () => {
    const { sink, source } = begin()
    source.give([entry(1)])
    await clock.advance(24_000)
    expect(sink.written).toHaveLength(1)
  })

  it('cut a reader that takes nothing for 30 s, and no sooner', async () => {
    const { sink, source } = begin()
    source.give([entry(1)])
    await clock.advance(29_999)
    expect(sink.isCut).toBe(false)
    await clock.advance(7_000)
    expect(sink.isCut).toBe(true)
    expect(source.isClosed).toBe(true)
    expect(streams.count).toBe(0)
  })

  it('do not cut a reader that takes a byte now and then', async () => {
    const { sink, source } = begin(new FakeSink(kib))
    source.give([entry(1, 'x'.repeat(4 * kib))])
    for (let rounds = 0; rounds < 10; rounds += 1) {
      await clock.advance(20_000)
      sink.take(1)
    }
    expect(sink.isCut).toBe(false)
  })

  it('cut a reader that takes nothing, though more is written to it all the while', async () => {
    const { sink, source } = begin()
    for (let seq = 1; seq <= 20; seq += 1) {
      source.give([entry(seq)])
      await clock.advance(2_000)
    }
    expect(sink.isCut).toBe(true)
  })

  it('need one timer, and none when nothing is open', async () => {
    expect(clock.pendingTimerCount).toBe(0)
    const open = [begin(), begin(), begin(new FakeSink(), 'bob')]
    expect(clock.pendingTimerCount).toBe(1)
    for (const { sink } of open) sink.leave()
    expect(clock.pendingTimerCount).toBe(0)
  })

  it('are limited for each principal, and a place is free again when its stream has closed', async () => {
    const { sink } = begin()
    begin()
    expect(() => streams.open('alice')).toThrow(
      expect.objectContaining({
        code: 'limit_reached',
        facts: expect.objectContaining({ limit: 'streamsPerPrincipal' }),
      }),
    )
    expect(() => streams.open('bob')).not.toThrow()
    sink.leave()
    expect(() => streams.open('alice')).not.toThrow()
  })

  it('end together, and each in the regular way', async () => {
    const open = [begin(), begin(), begin(new FakeSink(), 'bob')]
    streams.endAll()
    await settled()
    expect(open.every(({ sink, source }) => sink.isEnded && !sink.isCut && source.isClosed)).toBe(true)
    expect(streams.count).toBe(0)
  })

  it('count a place once, however often it is closed', () => {
    const place = streams.open('alice')
    place.close()
    place.close()
    expect(streams.count).toBe(0)
    expect(() => [streams.open('alice'), streams.open('alice')]).not.toThrow()
  })
})
