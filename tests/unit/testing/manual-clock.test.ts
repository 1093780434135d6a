import { setImmediate as nextTurn } from 'node:timers/promises'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { manualClock } from '../../../src/testing/manual-clock.ts'

describe('manualClock', () => {
  it('stands still until it is moved', async () => {
    const clock = manualClock(1_000)
    await nextTurn()
    expect(clock.now()).toBe(1_000)
    await clock.advance(250)
    expect(clock.now()).toBe(1_250)
  })

  it('starts at an instant that is not 0 by default', () => {
    expect(manualClock().now()).toBeGreaterThan(0)
  })

  it('fires a timer at its instant and not a millisecond before', async () => {
    const clock = manualClock(0)
    const firedAt: number[] = []
    clock.setTimer(100, () => firedAt.push(clock.now()))
    await clock.advance(99)
    expect(firedAt).toEqual([])
    await clock.advance(1)
    expect(firedAt).toEqual([100])
    await clock.advance(1_000)
    expect(firedAt).toEqual([100])
  })

  it('never fires inside setTimer, even without a delay', async () => {
    const clock = manualClock(0)
    const fired: string[] = []
    clock.setTimer(0, () => fired.push('zero'))
    clock.setTimer(-5, () => fired.push('negative'))
    expect(fired).toEqual([])
    await clock.advance(0)
    expect(fired).toEqual(['zero', 'negative'])
    expect(clock.now()).toBe(0)
  })

  it('fires timers in the order of their instants, equal ones in the order they were set', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.nat({ max: 20 }), { maxLength: 12 }), async (delays) => {
        const clock = manualClock(0)
        const fired: { delay: number; index: number; at: number }[] = []
        for (const [index, delay] of delays.entries()) {
          clock.setTimer(delay, () => fired.push({ delay, index, at: clock.now() }))
        }
        await clock.advance(20)
        const inOrder = [...delays.entries()].map(([index, delay]) => ({ delay, index, at: delay }))
        expect(fired).toEqual(inOrder.sort((a, b) => a.delay - b.delay || a.index - b.index))
      }),
      { numRuns: 50 },
    )
  })

  it('lets promises settle before the next timer fires', async () => {
    const clock = manualClock(0)
    const seen: string[] = []
    const first = Promise.withResolvers<void>()
    const continued = first.promise.then(async () => {
      await nextTurn()
      seen.push(`continued at ${clock.now()}`)
    })
    clock.setTimer(10, () => first.resolve())
    clock.setTimer(20, () => seen.push('second'))
    await clock.advance(20)
    await continued
    expect(seen).toEqual(['continued at 10', 'second'])
  })

  it('fires timers that are set on the way', async () => {
    const clock = manualClock(0)
    const ticks: number[] = []
    const tick = (): void => {
      ticks.push(clock.now())
      clock.setTimer(10, tick)
    }
    clock.setTimer(10, tick)
    await clock.advance(35)
    expect(ticks).toEqual([10, 20, 30])
    expect(clock.now()).toBe(35)
  })

  it('sees a timer that code already on its way sets before time moves', async () => {
    const clock = manualClock(0)
    const fired: number[] = []
    const onItsWay = nextTurn().then(() => clock.setTimer(5, () => fired.push(clock.now())))
    await clock.advance(5)
    await onItsWay
    expect(fired).toEqual([5])
  })

  it('does not fire a cancelled timer, and a late cancel is harmless', async () => {
    const clock = manualClock(0)
    const fired: string[] = []
    const early = clock.setTimer(1, () => fired.push('early'))
    const never = clock.setTimer(2, () => fired.push('never'))
    clock.setTimer(1, () => never.cancel())
    await clock.advance(5)
    early.cancel()
    expect(fired).toEqual(['early'])
  })

  it('counts the timers that are pending', async () => {
    const clock = manualClock(0)
    const timer = clock.setTimer(1, () => {})
    clock.setTimer(2, () => {})
    clock.setTimer(3, () => {})
    expect(clock.pendingTimerCount).toBe(3)
    timer.cancel()
    expect(clock.pendingTimerCount).toBe(2)
    await clock.advance(2)
    expect(clock.pendingTimerCount).toBe(1)
  })

  it('runs overlapping advances one after the other', async () => {
    const clock = manualClock(0)
    const firedAt: number[] = []
    for (const delay of [5, 15, 18]) clock.setTimer(delay, () => firedAt.push(clock.now()))
    await Promise.all([clock.advance(10), clock.advance(10)])
    expect(firedAt).toEqual([5, 15, 18])
    expect(clock.now()).toBe(20)
  })

  it('rejects when a callback throws, and can be moved on', async () => {
    const clock = manualClock(0)
    const fired: string[] = []
    clock.setTimer(1, () => {
      throw new Error('from the callback')
    })
    clock.setTimer(2, () => fired.push('after'))
    await expect(clock.advance(5)).rejects.toThrow('from the callback')
    expect(clock.now()).toBe(1)
    await clock.advance(5)
    expect(fired).toEqual(['after'])
    expect(clock.now()).toBe(6)
  })

  it('refuses to go back', async () => {
    await expect(manualClock().advance(-1)).rejects.toThrow('moves forward')
  })
})
