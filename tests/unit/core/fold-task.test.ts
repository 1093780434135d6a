import { describe, expect, it } from 'vitest'
import type { Event, EventData, EventType, Range } from '../../../src/core/event.ts'
import { foldTask } from '../../../src/core/fold-task.ts'
import { type TaskId, taskId, threadId } from '../../../src/core/id.ts'
import type { Task } from '../../../src/core/task.ts'

const id = taskId('bg_0')

const accepted: Task = {
  id,
  thread: threadId('t'),
  seq: 1,
  type: 'run',
  agent: 'echo',
  description: 'hello',
  status: 'pending',
  input: 'hello',
  attempt: 0,
  epoch: 0,
  createdAt: 100,
}

interface Place {
  readonly seq: number
  readonly at?: number
  readonly epoch?: number
  readonly task?: TaskId
}

function event<Type extends EventType>(type: Type, data: EventData[Type], place: Place): Event {
  return { thread: accepted.thread, task: id, at: 100 + place.seq, type, data, ...place } as Event
}

function fold(...events: Event[]): Task | undefined {
  return events.reduce(foldTask, undefined as Task | undefined)
}

const acceptance = event('task.accepted', { task: accepted }, { seq: 1 })
const start = event('task.started', { attempt: 1, node: 'node_1' }, { seq: 2, epoch: 1 })
const progress = (seq: number, value: number) => event('progress', { value }, { seq, epoch: 1 })
const usage = (seq: number, tokens: number) => event('usage', { tokens }, { seq, epoch: 1 })
const resume = (seq: number, keep: number, ...dropped: Range[]) =>
  event('task.resumed', { attempt: 2, node: 'node_2', keep, dropped }, { seq, epoch: 2 })

describe('the fold of a task', () => {
  it('begins with its acceptance', () => {
    expect(fold(acceptance)).toEqual(accepted)
    expect(fold(start, progress(3, 0.5))).toBeUndefined()
  })

  it('follows it from start to end', () => {
    const running = fold(acceptance, start)
    expect(running).toEqual({ ...accepted, status: 'running', attempt: 1, epoch: 1, startedAt: 102, seq: 2 })
    const end = event('task.completed', { result: 7 }, { seq: 5, epoch: 1 })
    expect(fold(acceptance, start, progress(3, 0.5), end)).toEqual({
      ...running,
      status: 'completed',
      seq: 5,
      progress: 1,
      result: 7,
      completedAt: 105,
    })
  })

  it('has no result that was left out, and an instant of its end that is stated', () => {
    const end = event('task.completed', { resultOmitted: true, completedAt: 50 }, { seq: 3 })
    expect(fold(acceptance, end)).toMatchObject({ status: 'completed', completedAt: 50 })
    expect(fold(acceptance, end)).not.toHaveProperty('result')
  })

  it('keeps the error of a failure, whether it was partial, and who asked it to stop when', () => {
    const error = { code: 'cancelled', message: 'The task was cancelled' } as const
    const asked = event('task.cancelling', { by: 'owner' }, { seq: 4, epoch: 1 })
    const end = event('task.cancelled', { error, partial: true }, { seq: 6, epoch: 1 })
    const task = fold(acceptance, start, progress(3, 0.5), asked, end)
    expect(task).toMatchObject({ status: 'cancelled', error, partial: true, progress: 0.5, cancelRequestedAt: 104 })
    const failure = event('task.failed', { error: { code: 'timeout', message: 'too long' } }, { seq: 3, epoch: 1 })
    expect(fold(acceptance, start, failure)).toMatchObject({ status: 'failed', error: { code: 'timeout' } })
    expect(fold(acceptance, start, failure)).not.toHaveProperty('partial')
  })

  it('is not changed by other tasks, nor by what it has passed', () => {
    const running = fold(acceptance, start)
    const other = event('task.failed', { error: { code: 'budget', message: 'x' } }, { seq: 9, task: taskId('bg_1') })
    for (const ignored of [other, start, acceptance]) expect(foldTask(running, ignored)).toBe(running)
  })

  it('counts the number of an event of a type it does not know', () => {
    const unknown = { ...progress(8, 1), type: 'task.painted' } as unknown as Event
    expect(foldTask(fold(acceptance, start), unknown)).toEqual({ ...fold(acceptance, start), seq: 8 })
  })

  it('has a place in the queue only until it starts or ends', () => {
    const waiting: Task = { ...accepted, position: 3 }
    expect(foldTask(waiting, start)).not.toHaveProperty('position')
    const error = { code: 'cancelled', message: 'The task was cancelled' } as const
    expect(foldTask(waiting, event('task.cancelled', { error }, { seq: 2 }))).not.toHaveProperty('position')
  })

  it('sums usage and keeps the last progress', () => {
    expect(fold(acceptance, start, usage(3, 5), progress(4, 0.5), usage(5, 7), progress(6, 0.25))).toMatchObject({
      progress: 0.25,
      usage: { tokens: 12 },
    })
  })

  it('leaves out what a resume abandons', () => {
    const before = [acceptance, start, progress(3, 0.1), usage(4, 5), progress(5, 0.4), usage(6, 7), progress(7, 0.9)]
    expect(fold(...before, resume(8, 5, [4, 4]))).toMatchObject({ attempt: 2, epoch: 2, progress: 0.4, seq: 8 })
    expect(fold(...before, resume(8, 5, [4, 4]))).not.toHaveProperty('usage')
    expect(fold(...before, resume(8, 4))).toMatchObject({ progress: 0.1, usage: { tokens: 5 } })
    const nothing = fold(...before, resume(8, 2))
    expect(nothing).not.toHaveProperty('progress')
    expect(nothing).not.toHaveProperty('usage')
  })

  it('abandons for good, and counts what comes after a resume', () => {
    const before = [acceptance, start, usage(3, 5), usage(4, 7)]
    const once = [...before, resume(5, 3), usage(6, 11)]
    expect(fold(...once)).toMatchObject({ usage: { tokens: 16 } })
    expect(fold(...once, resume(7, 6))).toMatchObject({ usage: { tokens: 16 } })
    expect(fold(...once, resume(7, 3))).toMatchObject({ usage: { tokens: 5 } })
  })

  it('takes what a task says that was read for standing', () => {
    const read: Task = {
      ...accepted,
      status: 'running',
      epoch: 1,
      attempt: 1,
      seq: 4,
      progress: 0.4,
      usage: { tokens: 5 },
    }
    const later = [usage(5, 7), progress(6, 0.9)].reduce(foldTask, read as Task | undefined)
    expect(later).toMatchObject({ progress: 0.9, usage: { tokens: 12 } })
    expect(foldTask(later, resume(7, 4))).toMatchObject({ progress: 0.4, usage: { tokens: 5 } })
  })

  it('leaves the task it was given as it was', () => {
    const running = fold(acceptance, start, usage(3, 5))
    const copy = structuredClone(running)
    foldTask(running, usage(4, 7))
    foldTask(running, resume(4, 2))
    expect(running).toEqual(copy)
    expect(foldTask(running, resume(4, 3))).toMatchObject({ usage: { tokens: 5 } })
  })
})
