import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { emptyPart, type LivePart } from '../../../src/core/live-part.ts'
import { LiveThread } from '../../../src/core/live-thread.ts'
import { checkedPolicy, checkedRetention, drop, dropTasks, protectedBy, trim } from '../../../src/core/retention.ts'
import type { TaskRecord } from '../../../src/core/task.ts'
import { key, taskRecord } from './task-record.ts'

const none = Number.POSITIVE_INFINITY
const dayMs = 24 * 60 * 60 * 1000

function liveThread(fields: Partial<LivePart> = {}): LiveThread {
  return new LiveThread({ ...emptyPart(key), rev: 7, ...fields })
}

function trimmedTo(live: LiveThread, upTo: number, protectedFrom = none, first = 1): number | undefined {
  const { unit, value } = trim(live, { first, upTo, protectedFrom })
  expect(value).toBe(unit !== undefined)
  return unit?.trim
}

function ended(id: string, fields: Partial<TaskRecord> = {}): TaskRecord {
  return taskRecord(id, { status: 'completed', type: 'agent', wake: 'echo', ...fields })
}

describe('a trim', () => {
  it('goes as far as it is asked to in a thread where nothing lives, and carries no revision', () => {
    const { unit, value } = trim(liveThread(), { first: 1, upTo: 20, protectedFrom: none })
    expect(value).toBe(true)
    expect(unit).toEqual({ operation: 'trim', thread: key, events: [], trim: 20 })
  })

  it('never passes the first event of a live task, pending or running', () => {
    const tasks = [
      taskRecord('bg_0', { firstSeq: 9 }),
      taskRecord('bg_1', { status: 'pending', attempt: 0, epoch: 0, place: 1, firstSeq: 6 }),
    ]
    expect(trimmedTo(liveThread({ tasks }), 20)).toBe(5)
    expect(trimmedTo(liveThread({ tasks }), 3)).toBe(3)
  })

  it('never passes an end that a parent or a wake has yet to take', () => {
    expect(trimmedTo(liveThread({ ended: [ended('bg_0', { firstSeq: 4 })] }), 20)).toBe(3)
  })

  it('never passes what untaken results protect, of which the live part knows nothing', () => {
    expect(trimmedTo(liveThread(), 20, 8)).toBe(7)
  })

  it('decides nothing if the log begins later than what may go', () => {
    expect(trimmedTo(liveThread({ tasks: [taskRecord('bg_0', { firstSeq: 6 })] }), 20, none, 6)).toBeUndefined()
    expect(trimmedTo(liveThread(), 4, none, 5)).toBeUndefined()
  })

  it('is not held up by a task whose acceptance has no number yet', () => {
    expect(trimmedTo(liveThread({ tasks: [taskRecord('bg_0', { firstSeq: 0 })] }), 20)).toBe(20)
  })

  it('goes below all that is protected, whatever lives', () => {
    const seq = fc.nat({ max: 50 })
    fc.assert(
      fc.property(fc.array(seq), fc.array(seq), seq, seq, (live, waiting, upTo, protectedFrom) => {
        const thread = liveThread({
          tasks: live.map((firstSeq, n) => taskRecord(`bg_${n}`, { firstSeq, type: 'agent' })),
          ended: waiting.map((firstSeq, n) => ended(`old_${n}`, { firstSeq })),
        })
        const bound = trimmedTo(thread, upTo, protectedFrom) ?? 0
        expect(bound).toBeLessThanOrEqual(upTo)
        for (const kept of [...live, ...waiting, protectedFrom]) if (kept > 0) expect(bound).toBeLessThan(kept)
      }),
    )
  })
})

describe('what tasks protect', () => {
  it('begins at the lowest of their first events', () => {
    expect(protectedBy([ended('bg_0', { firstSeq: 9 }), ended('bg_1', { firstSeq: 3 })])).toBe(3)
    expect(protectedBy([])).toBe(none)
  })
})

describe('a drop', () => {
  it('empties an idle thread at the revision that was looked at, and may leave traces', () => {
    const unit = { operation: 'erase', thread: key, rev: 7, events: [], erase: true, leavesTraces: true }
    expect(drop(liveThread(), 7)).toEqual({ unit, value: true })
  })

  it('is prepared by removing tasks, some at a time, under the same condition', () => {
    const unit = { operation: 'erase', thread: key, rev: 7, events: [], eraseTasks: 100 }
    expect(dropTasks(liveThread(), 7)).toEqual({ unit, value: true })
  })

  it('decides nothing if something has happened since', () => {
    for (const decide of [drop, dropTasks]) {
      expect(decide(liveThread(), 6)).toEqual({ value: false })
      expect(decide(liveThread({ tasks: [taskRecord('bg_0')] }), 7)).toEqual({ value: false })
    }
  })
})

describe('a retention', () => {
  it('is made of whole numbers from 1 on, and of nothing else', () => {
    const all = { eventsMs: 1, eventsPerThread: 2, threadsMs: 3 }
    expect(checkedRetention({ ...all, dryRun: true } as typeof all)).toEqual(all)
    expect(checkedRetention({})).toEqual({})
    for (const wrong of [0, -1, 1.5, Number.NaN, none, '7d' as unknown as number]) {
      expect(() => checkedRetention({ threadsMs: wrong })).toThrow('threadsMs is a whole number from 1 on')
    }
  })

  it('as a policy keeps threads for as long as idempotency keys are promised', () => {
    expect(checkedPolicy({ threadsMs: dayMs, eventsMs: 1 })).toEqual({ threadsMs: dayMs, eventsMs: 1 })
    expect(() => checkedPolicy({ threadsMs: dayMs - 1 })).toThrow('at least 86400000')
  })
})
