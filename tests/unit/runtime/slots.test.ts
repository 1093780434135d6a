import { describe, expect, it } from 'vitest'
import type { StepScope } from '../../../src/runtime/ambient.ts'
import { SlotHolder } from '../../../src/runtime/slot-holder.ts'
import { Slots } from '../../../src/runtime/slots.ts'

function scope(path: string): StepScope {
  return { path, insideCount: 0 }
}

describe('slots', () => {
  it('go to a task that goes on before any new one', async () => {
    let pokes = 0
    const slots = new Slots(1, () => {
      pokes += 1
    })
    expect(slots.tryTake()).toBe(true)
    let hasGoneOn = false
    const goingOn = slots.take().then(() => {
      hasGoneOn = true
    })
    slots.give()
    expect(slots.tryTake()).toBe(false)
    await goingOn
    expect(hasGoneOn).toBe(true)
    expect(pokes).toBe(0)
    slots.give()
    expect(pokes).toBe(1)
  })

  it('are given back while a task waits, and held again before it goes on', async () => {
    const slots = new Slots(1, () => {})
    slots.tryTake()
    const holder = new SlotHolder(slots)
    const wait = Promise.withResolvers<string>()
    const waited = holder.wait(undefined, wait.promise)
    expect(slots.free).toBe(1)
    slots.tryTake()
    wait.resolve('done')
    let isBack = false
    void waited.then(() => {
      isBack = true
    })
    await Promise.resolve()
    expect(isBack).toBe(false)
    slots.give()
    expect(await waited).toBe('done')
    expect(slots.free).toBe(0)
  })

  it('stay with a task of which one branch waits and another runs a step', async () => {
    const slots = new Slots(1, () => {})
    slots.tryTake()
    const holder = new SlotHolder(slots)
    const step = scope('busy')
    await holder.enter(step, undefined)
    const wait = Promise.withResolvers<void>()
    const waited = holder.wait(undefined, wait.promise)
    expect(slots.free).toBe(0)
    holder.leave(step, undefined)
    expect(slots.free).toBe(1)
    wait.resolve()
    await waited
    expect(slots.free).toBe(0)
  })

  it('are given back while a step only waits inside', async () => {
    const slots = new Slots(1, () => {})
    slots.tryTake()
    const holder = new SlotHolder(slots)
    const step = scope('outer')
    await holder.enter(step, undefined)
    const wait = Promise.withResolvers<void>()
    const waited = holder.wait(step, wait.promise)
    expect(slots.free).toBe(1)
    wait.resolve()
    await waited
    holder.leave(step, undefined)
    expect(slots.free).toBe(0)
  })

  it('come back once from a task that was closed while it waited', async () => {
    const slots = new Slots(1, () => {})
    slots.tryTake()
    const holder = new SlotHolder(slots)
    const wait = Promise.withResolvers<void>()
    const waited = holder.wait(undefined, wait.promise)
    slots.tryTake()
    wait.resolve()
    await Promise.resolve()
    holder.close()
    slots.give()
    await waited
    expect(slots.free).toBe(1)
  })
})
