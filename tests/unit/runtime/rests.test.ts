import { expect, it } from 'vitest'
import { Rests } from '../../../src/runtime/rests.ts'
import { manualClock } from '../../../src/testing/manual-clock.ts'

function restsOf() {
  const clock = manualClock()
  const told = { overCount: 0, forgotten: [] as string[] }
  const rests = new Rests<string>({
    clock,
    onOver: () => {
      told.overCount += 1
    },
    onForgotten: (key) => told.forgotten.push(key),
  })
  return { clock, rests, told }
}

it('what fails again rests for longer, and for a short time once it was forgotten', async () => {
  const { clock, rests, told } = restsOf()
  expect([rests.begin('a'), rests.begin('b'), rests.begin('a')]).toEqual([25, 25, 50])
  await clock.advance(25)
  expect([rests.keys, told.overCount]).toEqual([['a'], 1])
  await clock.advance(25)
  expect([rests.keys, told.overCount]).toEqual([[], 2])
  rests.forget('a')
  expect([rests.begin('a'), rests.begin('b')]).toEqual([25, 50])
})

it('what may be tried before its rest is over rests for longer if it fails again', async () => {
  const { clock, rests, told } = restsOf()
  rests.begin('a')
  rests.end('a')
  expect(rests.has('a')).toBe(false)
  expect(rests.begin('a')).toBe(50)
  await clock.advance(49)
  expect([rests.has('a'), told.overCount]).toEqual([true, 0])
})

it('of more than it keeps what failed longest ago is forgotten, and told', () => {
  const { rests, told } = restsOf()
  for (let n = 0; n < 1_000; n += 1) rests.begin(`${n}`)
  rests.begin('0')
  rests.begin('new')
  expect(told.forgotten).toEqual(['1'])
  expect([rests.begin('0'), rests.begin('1')]).toEqual([100, 25])
})

it('once it is closed nothing rests, and no timer is left', () => {
  const { clock, rests } = restsOf()
  rests.begin('a')
  rests.close()
  expect([rests.begin('b'), rests.keys, clock.pendingTimerCount]).toEqual([undefined, [], 0])
})
