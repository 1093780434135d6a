import { describe, expect, it } from 'vitest'
import { defaultLimits } from '../../../src/core/limits.ts'
import { emptyPart } from '../../../src/core/live-part.ts'
import { LiveThread } from '../../../src/core/live-thread.ts'
import { UnitDraft } from '../../../src/core/unit-draft.ts'
import { key, taskRecord } from './task-record.ts'

const around = {
  node: 'node_1',
  limits: defaultLimits,
  newTaskId: () => {
    throw new Error('no task is made here')
  },
  takeSlot: () => false,
  versionOf: () => undefined,
}

describe('a unit in the making', () => {
  const running = taskRecord('bg_1')
  const draft = () => new UnitDraft(new LiveThread({ ...emptyPart(key), tasks: [running] }), around, 'end')

  it('takes a change of status that the state machine allows, once', () => {
    const unit = draft()
    unit.put({ ...running, status: 'completed' }, 'completedAt')
    expect(unit.endedHere()).toMatchObject([{ id: 'bg_1', status: 'completed' }])
    expect(() => unit.put({ ...running, status: 'failed' })).toThrow('bg_1 is completed and cannot become failed')
  })

  it('takes no other', () => {
    expect(() => draft().put({ ...running, status: 'pending' })).toThrow('bg_1 is running and cannot become pending')
  })
})
