import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { statuses } from '../../../src/core/status.ts'
import {
  decodeTasks,
  encodeTasks,
  type PersistedTask,
  persistTask,
  reduceTasks,
  type TaskSummary,
} from '../../../src/runtime/persisted-task.ts'
import { codeOf } from '../core/thrown.ts'
import { wholeSummary } from './task-summary.ts'

const anyValue = fc.jsonValue({ maxDepth: 3 }).map((value) => JSON.parse(JSON.stringify(value)) as unknown)

const anyTask = fc
  .record(
    {
      id: fc.constantFrom('bg_0', 'bg_10', 'any id', '__proto__', 'constructor', '7'),
      thread: fc.constantFrom('t', 'a:b'),
      seq: fc.nat(),
      type: fc.constantFrom('run', 'agent', 'shell'),
      agent: fc.string(),
      name: fc.string(),
      description: fc.string({ unit: 'binary' }),
      status: fc.constantFrom(...statuses),
      parent: fc.record({ task: fc.string(), call: fc.string({ unit: 'binary' }) }, { requiredKeys: [] }),
      progress: fc.constantFrom(0, 0.5, 1),
      usage: fc.constant({ tokens: 3 }),
      input: anyValue,
      result: anyValue,
      error: fc.constant({ code: 'agent_error', message: 'no\u0000\ud800' }),
      attempt: fc.nat(),
      epoch: fc.nat(),
      createdAt: fc.nat(),
      completedAt: fc.nat(),
      metadata: anyValue,
    },
    { requiredKeys: ['id', 'thread', 'seq', 'type', 'description', 'status', 'attempt', 'epoch', 'createdAt'] },
  )
  .map((task) => task as unknown as PersistedTask)

describe('a persisted task', () => {
  it('REST-02 is built from a summary and its thread, and keeps every field', () => {
    const task = persistTask(wholeSummary, 'home')
    expect(task).toEqual({ ...wholeSummary, thread: 'home' })
    expect(Object.keys(task)).toHaveLength(Object.keys(wholeSummary).length + 1)
    expect(codeOf(() => persistTask(wholeSummary, 'no thread'))).toBe('invalid_request')
  })

  it('REST-03 comes back from JSON exactly, whatever it holds', () => {
    const whole = persistTask(wholeSummary, 'home')
    expect(decodeTasks(encodeTasks({ [whole.id]: whole }))).toStrictEqual({ [whole.id]: whole })
    fc.assert(
      fc.property(fc.array(anyTask), (tasks) => {
        const byId = reduceTasks({}, { kind: 'replace_all', tasks })
        expect(decodeTasks(encodeTasks(byId))).toEqual(byId)
      }),
    )
  })

  it('REST-03 leaves an absent result out, and keeps one that is null', () => {
    const { result: _result, ...rest } = wholeSummary
    const without = persistTask(rest, 'home')
    expect(encodeTasks({ bg_7: without })).not.toContain('result')
    expect(decodeTasks(encodeTasks({ bg_7: without }))['bg_7']).not.toHaveProperty('result')
    const withNull = persistTask({ ...rest, result: null }, 'home')
    expect(decodeTasks(encodeTasks({ bg_7: withNull }))['bg_7']).toHaveProperty('result', null)
  })

  it('REST-03 of an older program has no parent and no thread, and gets defaults', () => {
    const { parent: _parent, ...old } = wholeSummary
    const text = JSON.stringify({ [old.id]: old })
    expect(decodeTasks(text)[old.id]).toEqual({ ...old, thread: 'default' })
    expect(decodeTasks(text, { thread: 'home' })[old.id]).toEqual({ ...old, thread: 'home' })
    expect(decodeTasks(text)[old.id]).not.toHaveProperty('parent')
  })

  it('is not read from what is no task: the field at fault is named', () => {
    const text = (fields: object) => JSON.stringify({ bg_7: { ...wholeSummary, ...fields } })
    const wrong: [string, object][] = [
      ['status', { status: 'done' }],
      ['type', { type: undefined }],
      ['attempt', { attempt: -1 }],
      ['error', { error: 'broken' }],
      ['error', { error: { code: 'strange', message: 'x' } }],
      ['parent', { parent: { task: 1 } }],
      ['usage', { usage: { tokens: 'many' } }],
      ['detached', { detached: false }],
      ['createdAt', { createdAt: 'today' }],
      ['resultOmitted', { result: undefined, resultOmitted: true }],
    ]
    for (const [field, fields] of wrong) {
      expect(() => decodeTasks(text(fields))).toThrow(`The task "bg_7" of a snapshot has no valid ${field}`)
    }
    for (const broken of ['', '[]', 'null', '{"bg_7":1}', JSON.stringify({ bg_8: wholeSummary })]) {
      expect(codeOf(() => decodeTasks(broken))).toBe('invalid_request')
    }
  })
})

describe('the reductions of tasks', () => {
  const task = (id: string, fields: Partial<TaskSummary> = {}) =>
    persistTask({ ...wholeSummary, ...fields, id: id as PersistedTask['id'] }, 'home')

  it('REST-08 upsert adds a task or takes the place of one, and leaves what it was given alone', () => {
    const none = Object.freeze({})
    const one = Object.freeze(reduceTasks(none, { kind: 'upsert', task: task('bg_1', { status: 'running' }) }))
    const two = Object.freeze(reduceTasks(one, { kind: 'upsert', task: task('__proto__') }))
    const done = reduceTasks(two, { kind: 'upsert', task: task('bg_1', { status: 'completed' }) })
    expect([none, one, two, done].map((tasks) => Object.keys(tasks))).toEqual([
      [],
      ['bg_1'],
      ['bg_1', '__proto__'],
      ['bg_1', '__proto__'],
    ])
    expect(one['bg_1']?.status).toBe('running')
    expect(done['bg_1']?.status).toBe('completed')
  })

  it('REST-08 replace_all keeps nothing of what was there', () => {
    const before = reduceTasks({}, { kind: 'upsert', task: task('bg_1') })
    const after = reduceTasks(before, { kind: 'replace_all', tasks: [task('bg_2'), task('bg_3')] })
    expect(Object.keys(before)).toEqual(['bg_1'])
    expect(Object.keys(after)).toEqual(['bg_2', 'bg_3'])
    expect(reduceTasks(after, { kind: 'replace_all', tasks: [] })).toEqual({})
  })
})
