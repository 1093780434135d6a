import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { systemClock } from '../../../src/runtime/clock.ts'

// The timers of the platform are faked here, and nowhere else: they are what this clock is made of.
describe('systemClock', () => {
  beforeEach(() => void vi.useFakeTimers({ now: 5_000 }))
  afterEach(() => void vi.useRealTimers())

  it('tells the wall clock', () => {
    vi.setSystemTime(7_000)
    expect(systemClock.now()).toBe(7_000)
  })

  it('fires once, after the delay', () => {
    const fire = vi.fn()
    systemClock.setTimer(1_000, fire)
    vi.advanceTimersByTime(999)
    expect(fire).not.toHaveBeenCalled()
    vi.advanceTimersByTime(1)
    expect(fire).toHaveBeenCalledTimes(1)
    expect(vi.getTimerCount()).toBe(0)
  })

  it('never fires before setTimer returns, even with a negative delay', () => {
    const fire = vi.fn()
    systemClock.setTimer(-1, fire)
    expect(fire).not.toHaveBeenCalled()
    vi.advanceTimersByTime(1)
    expect(fire).toHaveBeenCalledTimes(1)
  })

  it('waits out a delay longer than one platform timer takes', () => {
    const fire = vi.fn()
    const delayMs = 3 * (2 ** 31 - 1) + 10
    systemClock.setTimer(delayMs, fire)
    vi.advanceTimersByTime(delayMs - 1)
    expect(fire).not.toHaveBeenCalled()
    vi.advanceTimersByTime(1)
    expect(fire).toHaveBeenCalledTimes(1)
  })

  it('can be cancelled in any slice of a long delay', () => {
    const fire = vi.fn()
    const delayMs = 2 ** 33
    const timer = systemClock.setTimer(delayMs, fire)
    vi.advanceTimersByTime(2 ** 32)
    timer.cancel()
    expect(vi.getTimerCount()).toBe(0)
    vi.advanceTimersByTime(delayMs)
    expect(fire).not.toHaveBeenCalled()
    timer.cancel()
  })

  it('keeps a timer when the wall clock jumps', () => {
    const fire = vi.fn()
    systemClock.setTimer(1_000, fire)
    vi.setSystemTime(10_000_000)
    vi.advanceTimersByTime(999)
    expect(fire).not.toHaveBeenCalled()
    vi.advanceTimersByTime(1)
    expect(fire).toHaveBeenCalledTimes(1)
  })

  it('refuses a delay that is not a number', () => {
    expect(() => systemClock.setTimer(Number.NaN, () => {})).toThrow('is a number')
  })
})
