import { describe, expect, it } from 'vitest'
import type { Surroundings } from '../../../src/core/decision.ts'
import { end } from '../../../src/core/end.ts'
import { afterFailure, hookKey } from '../../../src/core/hook.ts'
import { taskId } from '../../../src/core/id.ts'
import { defaultLimits } from '../../../src/core/limits.ts'
import { emptyPart } from '../../../src/core/live-part.ts'
import { LiveThread } from '../../../src/core/live-thread.ts'
import { PartsFold } from '../../../src/core/parts.ts'
import { key, taskRecord } from './task-record.ts'

const around: Surroundings = {
  node: 'node_1',
  limits: defaultLimits,
  newTaskId: () => taskId('bg_9'),
  takeSlot: () => false,
  versionOf: () => undefined,
}

/** The unit that ends a task which has an attached child that waits to start, and one that runs. */
function endUnit(hasHook: boolean) {
  const parent = { parent: { task: taskId('bg_0') } }
  const tasks = [
    taskRecord('bg_0'),
    taskRecord('bg_1', { ...parent, status: 'pending', epoch: 0, attempt: 0 }),
    taskRecord('bg_2', parent),
  ]
  const live = new LiveThread({ ...emptyPart(key), rev: 1, tasks })
  const ending = { outcome: { status: 'completed' }, output: new PartsFold() } as const
  return end(live, { ...around, ...(hasHook && { hasHook }) }, taskId('bg_0'), 1, ending).unit
}

describe('a hook', () => {
  it('is owed for every task that ends in a unit, and for none that goes on', () => {
    expect(endUnit(true)?.hooks?.map(({ task }) => task)).toEqual(['bg_0', 'bg_1'])
  })

  it('leaves the unit as it is where none is configured', () => {
    const { hooks: _hooks, ...rest } = endUnit(true) ?? {}
    expect(endUnit(false)).toEqual(rest)
    expect(Object.keys(endUnit(false) ?? {})).not.toContain('hooks')
  })

  it('is tried again later each time, up to ten minutes, and at last given up', () => {
    const now = 1_000_000
    const delays = Array.from(
      { length: 439 },
      (_, n) => (afterFailure(n + 1, new Error('x'), now, 0).nextAt ?? 0) - now,
    )
    expect(delays.slice(0, 11).map((ms) => ms / 1000)).toEqual([1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 600])
    const days = delays.reduce((sum, ms) => sum + ms, 0) / (24 * 60 * 60 * 1000)
    expect([days > 2.9, days < 3.1]).toEqual([true, true])
    expect(afterFailure(440, new Error('x'), now, 0)).toEqual({ attempts: 440, error: 'x' })
  })

  it('comes back at another moment than those that failed with it', () => {
    expect(afterFailure(11, new Error('x'), 0, 0.999).nextAt).toBeGreaterThanOrEqual(480_000)
    expect(afterFailure(11, new Error('x'), 0, 0.5).nextAt).toBe(540_000)
  })

  it.each([
    [new Error('one\ntwo'), 'one'],
    ['text', 'text'],
    [undefined, 'onEnded threw undefined'],
    [{ a: 1 }, 'onEnded threw {"a":1}'],
    [new Error('x'.repeat(1000)), 'x'.repeat(500)],
  ])('says in one short line how it failed: %s', (thrown, text) => {
    expect(afterFailure(1, thrown, 0, 0).error).toBe(text)
  })

  it('has a key of the end, which every call has', () => {
    expect(hookKey(taskId('bg_1'), 5)).toBe('bg_1.ended.5')
  })
})
