import { describe, expect, it } from 'vitest'
import type { Surroundings } from '../../../src/core/decision.ts'
import { cancelToErase, erase } from '../../../src/core/erase.ts'
import { taskId } from '../../../src/core/id.ts'
import { defaultLimits } from '../../../src/core/limits.ts'
import { emptyPart, type LivePart } from '../../../src/core/live-part.ts'
import { LiveThread } from '../../../src/core/live-thread.ts'
import { key, taskRecord } from './task-record.ts'

const why = { by: 'owner', reason: 'the thread is deleted' }

const around: Surroundings = {
  node: 'node_1',
  limits: defaultLimits,
  newTaskId: () => {
    throw new Error('A delete accepts no task')
  },
  takeSlot: () => false,
  versionOf: () => undefined,
}

function liveThread(fields: Partial<LivePart>): LiveThread {
  return new LiveThread({ ...emptyPart(key), rev: 7, ...fields })
}

describe('an erase', () => {
  it('empties an idle thread at its revision, and writes nothing else', () => {
    const live = liveThread({ wakes: 3 })
    const { unit, value } = erase(live, around)
    expect(value).toBe(true)
    expect(unit).toEqual({ operation: 'erase', thread: key, rev: 7, events: [], erase: true })
  })

  it('is refused while a task of the thread lives', () => {
    for (const status of ['pending', 'running'] as const) {
      expect(erase(liveThread({ tasks: [taskRecord('bg_0', { status })] }), around)).toEqual({ value: false })
    }
  })

  it('stores nothing for a thread never used', () => {
    expect(erase(new LiveThread(emptyPart(key)), around)).toEqual({ value: true })
  })

  it('leaves a live part as the store would read it anew', () => {
    const ended = taskRecord('bg_1', { status: 'completed', type: 'agent', wake: 'echo' })
    const mail = { id: 'm', task: taskId('bg_0'), place: 0, content: '1' }
    const live = liveThread({ wakes: 3, tasks: [taskRecord('bg_0', { name: 'scout' })], ended: [ended], mail: [mail] })
    live.apply({ operation: 'erase', thread: key, rev: 7, events: [], erase: true })
    expect([live.rev, live.wakes, live.isIdle]).toEqual([8, 0, true])
    expect([...live.tasks(), ...live.ended(), ...live.runs(), ...live.mailOf(taskId('bg_0'))]).toEqual([])
    expect(live.named('scout')).toBeUndefined()
  })
})

describe('the cancel before an erase', () => {
  it('takes every live task, and ends those that have not started', () => {
    const tasks = [
      taskRecord('bg_0', { type: 'run' }),
      taskRecord('bg_1', { type: 'agent', detached: true }),
      taskRecord('bg_2', { type: 'run', status: 'pending', attempt: 0, epoch: 0, place: 2 }),
    ]
    const { unit, value } = cancelToErase(liveThread({ tasks }), around, why)
    expect(value).toEqual(['bg_0', 'bg_1', 'bg_2'])
    expect(unit?.tasks?.map(({ record }) => [record.id, record.status])).toEqual([
      ['bg_0', 'running'],
      ['bg_1', 'running'],
      ['bg_2', 'cancelled'],
    ])
  })

  it('lets no end wake the thread, of a live task or of one that ended before', () => {
    const armed = { wake: 'echo', wakeRun: taskId('bg_9'), detached: true, type: 'agent' } as const
    const pendingOne = taskRecord('bg_0', { ...armed, status: 'pending', attempt: 0, epoch: 0 })
    const tasks = [pendingOne, taskRecord('bg_1', armed)]
    const ended = [taskRecord('bg_2', { ...armed, status: 'completed', parent: { task: taskId('bg_1') } })]
    const live = liveThread({ tasks, ended })
    const { unit } = cancelToErase(live, around, why)
    expect(unit?.tasks?.map(({ record }) => record.id).toSorted()).toEqual(['bg_0', 'bg_1', 'bg_2'])
    expect(unit?.tasks?.filter(({ record }) => record.wake !== undefined || record.wakeRun !== undefined)).toEqual([])
    expect(unit?.events.map(({ type }) => type).toSorted()).toEqual(['task.cancelled', 'task.cancelling'])
  })

  it('asks the store whether what is being cancelled already still lives', () => {
    const live = liveThread({ tasks: [taskRecord('bg_0', { cancelRequestedAt: 5 })] })
    const { unit, value } = cancelToErase(live, around, why)
    expect(value).toEqual(['bg_0'])
    expect(unit).toEqual({ operation: 'cancel', thread: key, rev: 7, events: [] })
  })
})
