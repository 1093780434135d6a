import { describe, expect, it } from 'vitest'
import { taskId } from '../../../src/core/id.ts'
import { OwnWork } from '../../../src/runtime/own-work.ts'
import { manualClock } from '../../../src/testing/index.ts'

const named = (...numbers: number[]) => numbers.map((n) => taskId(`bg_${n}`))

describe('what came to wait by a node', () => {
  it('is its own for twice as long as it is left to it, or until it waits no longer', async () => {
    const clock = manualClock()
    const own = new OwnWork(clock)
    own.add(named(0, 1))
    await clock.advance(99)
    own.add(named(2, 3))
    own.drop(taskId('bg_3'))
    expect(own.forLook(9)).toEqual(named(0, 1, 2))
    await clock.advance(1)
    expect(own.forLook(9)).toEqual(named(2))
  })

  it('is told as much of it as is asked for, the oldest first', () => {
    const own = new OwnWork(manualClock())
    own.add(named(4, 1, 3))
    expect(own.forLook(2)).toEqual(named(4, 1))
  })

  it('is not told to a look that leaves nothing to others, and to the next one again', () => {
    const own = new OwnWork(manualClock())
    own.add(named(0))
    own.takeAll()
    expect([own.forLook(9), own.forLook(9)]).toEqual([undefined, named(0)])
  })

  it('is not kept by a clock that was set back', async () => {
    const clock = manualClock()
    const own = new OwnWork({ ...clock, now: () => clock.now() - offset })
    let offset = 0
    own.add(named(0))
    offset = 3_600_000
    own.add(named(1))
    expect(own.forLook(9)).toEqual(named(1))
  })

  it('is as young as it came to wait last', async () => {
    const clock = manualClock()
    const own = new OwnWork(clock)
    own.add(named(0, 1))
    await clock.advance(60)
    own.add(named(0))
    await clock.advance(60)
    expect(own.forLook(9)).toEqual(named(0))
  })
})
