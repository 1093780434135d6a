import { describe, expect, it } from 'vitest'
import type { EventType } from '../../../src/core/event.ts'
import { type Principal, principal, threadId, threadKey } from '../../../src/core/id.ts'
import type { Unit } from '../../../src/core/unit.ts'
import { OpenTasks } from '../../../src/runtime/open-tasks.ts'

const alice = principal('alice')
const bob = principal('bob')

function unit(who: Principal, ...types: EventType[]): Unit {
  const events = types.map((type) => ({ type, data: '{}' }))
  return { operation: 'accept', thread: threadKey(who, threadId('t')), rev: 0, events }
}

const opening = (who: Principal) => unit(who, 'task.accepted', 'task.started')
const ending = (who: Principal) => unit(who, 'task.completed')

function decide(open: OpenTasks, ...units: Unit[]): void {
  for (const decided of units) open.decided(decided)
}

/** How many more tasks a principal may open. */
function roomOf(open: OpenTasks, who: Principal): number {
  for (let count = 0; count < 100; count++) {
    const types: EventType[] = Array.from({ length: count + 1 }, () => 'task.accepted')
    try {
      open.admit({ unit: unit(who, ...types), value: undefined })
    } catch {
      return count
    }
  }
  throw new Error('there is room without end')
}

describe('the count of open tasks', () => {
  it('follows what is decided, and forgets what is withdrawn', () => {
    const open = new OpenTasks(5)
    const [first, second] = [opening(alice), opening(alice)]
    decide(open, first, second, opening(bob))
    expect([roomOf(open, alice), roomOf(open, bob)]).toEqual([3, 4])
    open.committed(first)
    open.withdrawn(second)
    open.withdrawn(first)
    expect(roomOf(open, alice)).toBe(4)
    decide(open, ending(alice))
    expect(roomOf(open, alice)).toBe(5)
  })

  it('counts nothing for a task that is accepted and ended in one unit', () => {
    const open = new OpenTasks(1)
    decide(open, unit(alice, 'task.accepted', 'task.cancelled'), unit(alice, 'task.accepted', 'task.failed'))
    expect(roomOf(open, alice)).toBe(1)
  })

  it('admits what opens no more tasks than it ends, also beyond the limit', () => {
    const open = new OpenTasks(1)
    decide(open, opening(alice), opening(alice))
    const swap = { unit: unit(alice, 'task.cancelled', 'task.accepted'), value: 'swapped' }
    expect(open.admit(swap)).toBe(swap)
    expect(open.admit({ value: 'nothing' })).toEqual({ value: 'nothing' })
  })

  it('takes over what the store counted', () => {
    const open = new OpenTasks(5)
    open.counting()(
      new Map([
        [alice, 4],
        [bob, 2],
      ]),
    )
    expect([roomOf(open, alice), roomOf(open, bob)]).toEqual([1, 3])
    open.counting()(new Map([[bob, 2]]))
    expect([roomOf(open, alice), roomOf(open, bob)]).toEqual([5, 3])
  })

  it.each([
    ['seen', 2],
    ['not seen', 1],
  ])('stays exact whether a unit on its way was %s by the count', (_how, count) => {
    const open = new OpenTasks(5)
    const [before, during] = [opening(alice), opening(alice)]
    decide(open, before)
    open.committed(before)
    decide(open, during)
    const onCounted = open.counting()
    open.committed(during)
    onCounted(new Map([[alice, count]]))
    expect(roomOf(open, alice)).toBe(3)
  })

  it.each([
    ['seen', 0],
    ['not seen', 1],
  ])('stays exact whether an end that is decided during the count was %s by it', (_how, count) => {
    const open = new OpenTasks(5)
    const first = opening(alice)
    decide(open, first)
    open.committed(first)
    const onCounted = open.counting()
    decide(open, ending(alice))
    onCounted(new Map(count === 0 ? [] : [[alice, count]]))
    expect(roomOf(open, alice)).toBe(5)
  })

  it('believes a count that what is on its way cannot explain: another node changed it', () => {
    const open = new OpenTasks(20)
    decide(open, opening(alice))
    const onCounted = open.counting()
    onCounted(new Map([[alice, 9]]))
    expect(roomOf(open, alice)).toBe(11)
  })
})
