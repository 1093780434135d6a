import { expect, it } from 'vitest'
import { AgentPlaces } from '../../../src/runtime/agent-places.ts'
import { Slots } from '../../../src/runtime/slots.ts'

const places = () => new AgentPlaces(new Map([['few', 2]]))

/** Notes when a task that goes on has its place. */
function goingOn(taken: Promise<void> | undefined): { isThere: boolean } {
  const noted = { isThere: taken === undefined }
  void taken?.then(() => {
    noted.isThere = true
  })
  return noted
}

it('an agent without a limit needs no place', () => {
  const few = places()
  for (let n = 0; n < 10; n++) expect([few.tryTake('other'), few.tryTake(undefined)]).toEqual([true, true])
  expect(few.take('other')).toBeUndefined()
  few.give('other')
  expect(few.limits).toEqual(new Map([['few', { max: 2, executing: 0 }]]))
  expect(new AgentPlaces().limits).toBeUndefined()
})

it('A1 as many are taken as there are, and a place that is given back is taken again', () => {
  const few = places()
  expect([few.tryTake('few'), few.tryTake('few'), few.tryTake('few')]).toEqual([true, true, false])
  few.give('few')
  expect([few.tryTake('few'), few.tryTake('few')]).toEqual([true, false])
})

it('A2 what other nodes execute leaves less to start', () => {
  const few = places()
  few.heard(new Map([['few', 1]]))
  expect([few.tryTake('few'), few.tryTake('few')]).toEqual([true, false])
  few.heard(new Map())
  expect([few.tryTake('few'), few.tryTake('few')]).toEqual([true, false])
})

it('A3 a place goes to a task that goes on before any new one, first come, first served', async () => {
  const few = places()
  few.tryTake('few')
  few.tryTake('few')
  const [first, second] = [goingOn(few.take('few')), goingOn(few.take('few'))]
  few.give('few')
  expect(few.tryTake('few')).toBe(false)
  await Promise.resolve()
  expect([first.isThere, second.isThere]).toEqual([true, false])
  few.give('few')
  await Promise.resolve()
  expect(second.isThere).toBe(true)
  expect(few.limits?.get('few')).toEqual({ max: 2, executing: 2 })
})

it('A4 one task goes on here whatever other nodes execute, and the next when they execute less', async () => {
  const few = places()
  few.heard(new Map([['few', 5]]))
  const [first, second] = [goingOn(few.take('few')), goingOn(few.take('few'))]
  expect([first.isThere, second.isThere]).toEqual([true, false])
  expect(few.tryTake('few')).toBe(false)
  few.heard(new Map([['few', 1]]))
  await Promise.resolve()
  expect(second.isThere).toBe(false)
  few.heard(new Map([['few', 0]]))
  await Promise.resolve()
  expect(second.isThere).toBe(true)
})

it('a slot comes with a place, and neither is held without the other by what has not begun', async () => {
  const slots = new Slots(1, () => {}, places())
  expect(slots.tryTake('few')).toBe(true)
  expect(slots.tryTake('few')).toBe(false)
  expect(slots.places.limits?.get('few')?.executing).toBe(1)
  slots.give('few')
  slots.places.heard(new Map([['few', 2]]))
  expect(slots.tryTake('few')).toBe(false)
  expect(slots.free).toBe(1)
  const [first, second] = [goingOn(slots.take('few')), goingOn(slots.take('few'))]
  await Promise.resolve()
  expect([first.isThere, second.isThere, slots.free]).toEqual([true, false, 0])
  slots.give('few')
  await expect.poll(() => second.isThere).toBe(true)
  expect(slots.free).toBe(0)
})
