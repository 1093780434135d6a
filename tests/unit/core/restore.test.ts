import { describe, expect, it } from 'vitest'
import type { Surroundings } from '../../../src/core/decision.ts'
import { taskId } from '../../../src/core/id.ts'
import { defaultLimits } from '../../../src/core/limits.ts'
import { emptyPart } from '../../../src/core/live-part.ts'
import { LiveThread } from '../../../src/core/live-thread.ts'
import { type RestoredTask, restore } from '../../../src/core/restore.ts'
import { key, taskRecord } from './task-record.ts'

const around: Surroundings = {
  node: 'node_1',
  limits: defaultLimits,
  newTaskId: () => {
    throw new Error('A restored task has its id')
  },
  takeSlot: () => {
    throw new Error('A restored task is not started')
  },
  versionOf: () => undefined,
}

function task(id: string, fields: Partial<RestoredTask> = {}): RestoredTask {
  const base = {
    type: 'agent',
    description: 'a task',
    status: 'completed',
    attempt: 1,
    epoch: 2,
    createdAt: 10,
  } as const
  return { ...base, id: taskId(id), ...fields }
}

describe('restore', () => {
  const live = () => new LiveThread({ ...emptyPart(key), rev: 7, tasks: [taskRecord('bg_1')] })

  it('writes acceptance, ending and record of each task in one unit of the thread', () => {
    const { unit, value } = restore(live(), around, [task('bg_5', { result: '[1]', completedAt: 20 }), task('old')])
    expect(value).toEqual(['bg_5', 'old'])
    expect(unit).toMatchObject({ operation: 'restore', thread: key, rev: 7 })
    expect(unit?.events.map(({ task: id, type, epoch }) => [id, type, epoch])).toEqual([
      ['bg_5', 'task.accepted', undefined],
      ['bg_5', 'task.completed', undefined],
      ['old', 'task.accepted', undefined],
      ['old', 'task.completed', undefined],
    ])
    expect(unit?.tasks?.map(({ record, isNew, stamps }) => [record.id, isNew, stamps])).toEqual([
      ['bg_5', true, []],
      ['old', true, ['completedAt']],
    ])
    expect(unit?.tasks?.[0]?.record).toMatchObject({
      status: 'completed',
      result: '[1]',
      createdAt: 10,
      completedAt: 20,
    })
    for (const absent of ['messages', 'mail', 'read', 'take', 'wakes']) expect(unit).not.toHaveProperty(absent)
  })

  it('leaves a live task alone, and one given twice is restored once', () => {
    expect(restore(live(), around, [task('bg_1', { status: 'failed' })])).toEqual({ value: [] })
    const { unit, value } = restore(live(), around, [
      task('bg_1'),
      task('bg_2'),
      task('bg_2', { description: 'again' }),
    ])
    expect(value).toEqual(['bg_2'])
    expect(unit?.events).toHaveLength(2)
  })

  it('ends what had not ended: as cancelled if that was asked, else as orphaned', () => {
    const given = [
      task('bg_2', { status: 'running' }),
      task('bg_3', { status: 'pending', attempt: 0 }),
      task('bg_4', { status: 'running', cancelRequestedAt: 15 }),
    ]
    const records = restore(live(), around, given).unit?.tasks?.map((put) => put.record)
    expect(records?.map((record) => [record.status, record.error?.code, record.ready, record.node])).toEqual([
      ['failed', 'orphaned', false, undefined],
      ['failed', 'orphaned', false, undefined],
      ['cancelled', 'cancelled', false, undefined],
    ])
  })

  it('tells nobody here of an end, but offers that of an orphan to whoever collects', () => {
    const under = (id: string, status: RestoredTask['status'], parent: string) =>
      task(id, { status, parent: { task: taskId(parent) } })
    const thread = live()
    const given = [
      under('a', 'completed', 'bg_1'),
      under('b', 'running', 'bg_1'),
      under('c', 'completed', 'gone'),
      under('d', 'running', 'gone'),
    ]
    const { unit } = restore(thread, around, given)
    expect(unit?.tasks?.map(({ record }) => record.taken)).toEqual([true, true, true, false])
    if (unit) thread.apply(unit)
    expect([...thread.ended()]).toEqual([])
    expect([...thread.tasks()].map((record) => record.id)).toEqual(['bg_1'])
  })

  it('gives an ending that the snapshot does not explain an error all the same', () => {
    const given = [task('a', { status: 'failed' }), task('b', { status: 'cancelled' })]
    const errors = restore(live(), around, given).unit?.tasks?.map(({ record }) => record.error)
    expect(errors).toMatchObject([{ code: 'agent_error' }, { code: 'cancelled', message: 'The task was cancelled' }])
  })
})
