import { beforeEach, describe, expect, it } from 'vitest'
import { StretchCache } from '../../../src/runtime/stretch-cache.ts'
import { type ManualClock, manualClock } from '../../../src/testing/manual-clock.ts'
import { keyOf } from './written-log.ts'

const mib = 1024 * 1024
const [home, other] = [keyOf('home'), keyOf('other')]
const sse = {}

let clock: ManualClock
let cache: StretchCache
let madeCount: number

beforeEach(() => {
  clock = manualClock()
  cache = new StretchCache(clock)
  madeCount = 0
})

function ask({ thread = home, name = 'a', bytes = mib, maker = sse } = {}): Uint8Array {
  return cache.made(thread, name, bytes, maker, () => {
    madeCount += 1
    return Buffer.alloc(bytes, madeCount)
  })
}

describe('what was made of a stretch', () => {
  it('H2 is kept from the second time on, and then made no more', () => {
    ask()
    expect(cache.bytes).toBe(0)
    const second = ask()
    expect([madeCount, cache.bytes]).toEqual([2, mib])
    expect(ask()).toBe(second)
    expect(madeCount).toBe(2)
  })

  it('is a copy: whoever made it may use its memory again', () => {
    const bytes = Buffer.alloc(mib, 'a')
    for (let n = 0; n < 2; n++) cache.made(home, 'a', mib, sse, () => bytes)
    bytes.fill('b')
    expect(cache.made(home, 'a', mib, sse, () => bytes)[0]).toBe('a'.charCodeAt(0))
  })

  it('is told apart by thread, by stretch and by who made it', () => {
    const different = [{}, { thread: other }, { name: 'b' }, { maker: {} }]
    for (const each of [...different, ...different]) ask(each)
    const kept = different.map((each) => ask(each))
    expect(new Set(kept).size).toBe(4)
  })

  it('is not kept if it is little', () => {
    for (let n = 0; n < 3; n++) ask({ bytes: 1024 })
    expect([madeCount, cache.bytes]).toEqual([3, 0])
  })

  it('H3 is 8 MiB at most, of what was used last', () => {
    const names = Array.from({ length: 9 }, (_, n) => `${n}`)
    for (const name of names) for (let n = 0; n < 2; n++) ask({ name })
    expect(cache.bytes).toBe(8 * mib)
    madeCount = 0
    for (const name of names.slice(1)) ask({ name })
    expect(madeCount).toBe(0)
    ask({ name: '0' })
    expect(madeCount).toBe(1)
  })

  it('H3 goes when nobody has asked for it for 10 s', async () => {
    for (let n = 0; n < 2; n++) ask()
    await clock.advance(5000)
    ask()
    await clock.advance(5000)
    expect(cache.bytes).toBe(mib)
    await clock.advance(5000)
    expect(cache.bytes).toBe(0)
  })

  it('H3 goes when something of its thread is removed, and nothing of others', () => {
    for (const thread of [home, other, home, other]) ask({ thread })
    cache.forget(home)
    expect(cache.bytes).toBe(mib)
    madeCount = 0
    ask({ thread: other })
    expect(madeCount).toBe(0)
    ask()
    expect(madeCount).toBe(1)
  })

  it('is kept no more once the node closes, and no timer is left', async () => {
    for (let n = 0; n < 2; n++) ask()
    cache.close()
    for (let n = 0; n < 3; n++) ask()
    expect([cache.bytes, madeCount, clock.pendingTimerCount]).toEqual([0, 5, 0])
  })
})
