import { describe, expect, it } from 'vitest'
import { type Following, LiveModel, type Loadable } from '../../../../src/client/live/live-model.ts'
import { frameSchedule } from '../../../../src/client/live/schedule.ts'
import { HoldfastError } from '../../../../src/core/errors.ts'
import { manualClock } from '../../../../src/testing/manual-clock.ts'

interface Counted extends Loadable {
  readonly count: number
}

/** A model whose followings a test drives by hand, and whose turns it takes. */
function counted() {
  const clock = manualClock()
  const followings: Following<Counted>[] = []
  const turns: (() => void)[] = []
  const stopped: string[] = []
  const told: number[] = []
  const model = new LiveModel<Counted>({
    clock,
    schedule: (publish) => void turns.push(publish),
    initial: { count: 0, isLoading: true },
    follow: (following) => {
      followings.push(following)
      return new Promise((_, reject) => {
        following.signal.addEventListener('abort', () => reject(new Error('given up')))
      })
    },
    onStopped: () => void stopped.push('stopped'),
  })
  const turn = () => {
    for (const publish of turns.splice(0)) publish()
  }
  const subscribe = () => model.subscribe(() => told.push(model.get().count))
  return { clock, model, followings, stopped, told, turn, subscribe, turns }
}

const loaded = (count: number): Counted => ({ count, isLoading: false })

describe('a live model', () => {
  it('tells of many changes once per turn, and gives the same object until then', () => {
    const { model, followings, told, turn, subscribe, turns } = counted()
    subscribe()
    const before = model.get()
    for (const count of [1, 2, 3]) followings[0]?.set(loaded(count))
    expect(model.get()).toBe(before)
    expect(turns).toHaveLength(1)
    turn()
    expect(told).toEqual([3])
    followings[0]?.set(followings[0].value)
    expect(turns).toHaveLength(0)
  })

  it('follows once for all who subscribe, and a little longer than the last of them', async () => {
    const { clock, followings, stopped, subscribe } = counted()
    const leaves = [subscribe(), subscribe()]
    for (const leave of leaves) leave()
    leaves[0]?.()
    await clock.advance(999)
    const leave = subscribe()
    await clock.advance(5000)
    expect(followings).toHaveLength(1)
    expect(followings[0]?.signal.aborted).toBe(false)
    leave()
    await clock.advance(1000)
    expect(followings[0]?.signal.aborted).toBe(true)
    expect(stopped).toEqual(['stopped'])
    expect(clock.pendingTimerCount).toBe(0)
  })

  it('passes over what comes from a following that was given up', () => {
    const { model, followings, turn, subscribe } = counted()
    subscribe()
    followings[0]?.set(loaded(1))
    model.retry()
    followings[0]?.set(loaded(2))
    followings[0]?.fail(new HoldfastError('not_found', 'x'))
    followings[1]?.set(loaded(3))
    turn()
    expect(model.get()).toEqual(loaded(3))
  })

  it('keeps what it shows beside what went wrong', () => {
    const { model, followings, turn, subscribe } = counted()
    subscribe()
    followings[0]?.set(loaded(1))
    followings[0]?.fail(new HoldfastError('internal_error', 'It broke', { facts: { requestId: 'r-1' } }))
    turn()
    expect(model.get()).toEqual({
      count: 1,
      isLoading: false,
      error: { code: 'internal_error', message: 'It broke', requestId: 'r-1' },
    })
  })
})

describe('the schedule of a page', () => {
  it('is that of its frames, or of a clock where none come', async () => {
    const clock = manualClock()
    const frames: (() => void)[] = []
    Object.assign(globalThis, { requestAnimationFrame: (callback: () => void) => frames.push(callback) })
    try {
      const schedule = frameSchedule(clock)
      const published: string[] = []
      schedule(() => published.push('by frame'))
      frames[0]?.()
      await clock.advance(1000)
      schedule(() => published.push('hidden'))
      await clock.advance(249)
      expect(published).toEqual(['by frame'])
      await clock.advance(1)
      frames[1]?.()
      expect(published).toEqual(['by frame', 'hidden'])
    } finally {
      Reflect.deleteProperty(globalThis, 'requestAnimationFrame')
    }
  })
})
