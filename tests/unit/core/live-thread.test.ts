import { describe, expect, it } from 'vitest'
import { taskId } from '../../../src/core/id.ts'
import { emptyPart, isAwaited, wakeBytesMax } from '../../../src/core/live-part.ts'
import { inRunningOrder, LiveThread, untakenNotRead } from '../../../src/core/live-thread.ts'
import type { QuestionRecord } from '../../../src/core/question.ts'
import type { Mail } from '../../../src/core/unit.ts'
import { mailTo, put, unit } from './live-units.ts'
import { key, taskRecord } from './task-record.ts'

const error = { code: 'agent_error', message: 'no' } as const

describe('a live thread', () => {
  it('is idle when nothing is live', () => {
    const live = new LiveThread(emptyPart(key))
    expect(live.isIdle).toBe(true)
    live.apply(unit({ rev: 0, tasks: [put(taskRecord('bg_1'), { isNew: true })] }))
    expect(live.isIdle).toBe(false)
    expect(live.rev).toBe(1)
  })

  it('finds tasks by id, name and parent while they are live', () => {
    const parent = taskRecord('bg_1')
    const child = taskRecord('bg_2', { name: 'a', parent: { task: parent.id } })
    const live = new LiveThread({ ...emptyPart(key), tasks: [parent, child] })
    expect(live.task(child.id)).toBe(child)
    expect(live.named('a')).toBe(child)
    expect(live.children(parent.id)).toEqual([child])
    live.apply(unit({ tasks: [put({ ...child, status: 'completed' })] }))
    expect(live.task(child.id)).toBeUndefined()
    expect(live.named('a')).toBeUndefined()
    expect(live.children(parent.id)).toEqual([])
  })

  it('knows no end of a thread any more that some tasks were erased from', () => {
    const armed = taskRecord('bg_1', { status: 'completed', wake: 'echo' })
    const live = new LiveThread({ ...emptyPart(key), ended: [armed] })
    expect([...live.ended()]).toEqual([armed])
    live.apply(unit({ rev: 0, eraseTasks: 100 }))
    expect([...live.ended()]).toEqual([])
  })

  it('gives a freed name to the next task, whose end does not free it for another', () => {
    const first = taskRecord('bg_1', { name: 'a' })
    const second = taskRecord('bg_2', { name: 'a' })
    const live = new LiveThread({ ...emptyPart(key), tasks: [first] })
    live.apply(unit({ tasks: [put({ ...first, status: 'failed', error }), put(second, { isNew: true })] }))
    expect(live.named('a')?.id).toBe('bg_2')
    live.apply(unit({ tasks: [put({ ...first, status: 'failed', error, taken: true })] }))
    expect(live.named('a')?.id).toBe('bg_2')
  })

  it('still shows the live children of a parent that has ended', () => {
    const parent = taskRecord('bg_1')
    const child = taskRecord('bg_2', { parent: { task: parent.id }, detached: true })
    const live = new LiveThread({ ...emptyPart(key), tasks: [parent, child] })
    live.apply(unit({ tasks: [put({ ...parent, status: 'completed' })] }))
    expect(live.children(parent.id)).toEqual([child])
  })

  it('keeps the end of a child until its parent has taken it, or has ended', () => {
    const parent = taskRecord('bg_1')
    const children = ['bg_2', 'bg_3'].map((id) => taskRecord(id, { parent: { task: parent.id } }))
    const ends = children.map((child) => put({ ...child, status: 'completed' }))
    const live = new LiveThread({ ...emptyPart(key), tasks: [parent, ...children] })
    const ended = () => [...live.ended()].map((record) => record.id)
    live.apply(unit({ tasks: ends }))
    expect(ended()).toEqual(['bg_2', 'bg_3'])
    live.apply(unit({ take: [taskId('bg_2')] }))
    expect(ended()).toEqual(['bg_3'])
    live.apply(unit({ tasks: [put({ ...parent, status: 'completed' })] }))
    expect(ended()).toEqual([])
  })

  it('drops an end that it was read with when the parent ends', () => {
    const parent = taskRecord('bg_1')
    const child = taskRecord('bg_2', { parent: { task: parent.id }, status: 'completed' })
    const live = new LiveThread({ ...emptyPart(key), tasks: [parent], ended: [child] })
    expect([...live.ended()]).toEqual([child])
    live.apply(unit({ tasks: [put({ ...parent, status: 'completed' })] }))
    expect([...live.ended()]).toEqual([])
  })

  it('keeps an end that is to wake the thread, whoever has ended', () => {
    const parent = taskRecord('bg_1', { type: 'run' })
    const child = taskRecord('bg_2', { parent: { task: parent.id }, detached: true, wake: 'helper' })
    const live = new LiveThread({ ...emptyPart(key), tasks: [parent, child] })
    live.apply(unit({ tasks: [put({ ...parent, status: 'completed' })] }))
    live.apply(unit({ tasks: [put({ ...child, status: 'completed' })] }))
    expect([...live.ended()].map((record) => record.id)).toEqual(['bg_2'])
    const { wake: _disarmed, ...rest } = child
    live.apply(unit({ tasks: [put({ ...rest, status: 'completed' })] }))
    expect([...live.ended()]).toEqual([])
  })

  it('has no further ends unless they were read', () => {
    const live = new LiveThread(emptyPart(key))
    expect(() => live.untaken()).toThrow(untakenNotRead)
  })

  it('carries no more of what nobody took forward than a wake takes', () => {
    const live = new LiveThread({ ...emptyPart(key), untaken: [] })
    const result = JSON.stringify('x'.repeat(wakeBytesMax / 4))
    const ids = Array.from({ length: 10 }, (_, n) => `bg_${n}`)
    for (const id of ids)
      live.apply(unit({ tasks: [put(taskRecord(id, { status: 'completed', input: result, result }))] }))
    expect([...live.untaken()].map((record) => [record.id, record.input])).toEqual(
      ids.slice(0, 4).map((id) => [id, undefined]),
    )
    live.apply(unit({ take: [taskId('bg_0')], tasks: [put(taskRecord('bg_10', { status: 'completed', result }))] }))
    expect([...live.untaken()].map((record) => record.id)).toEqual(['bg_1', 'bg_2', 'bg_3'])
  })

  it('carries what nobody took forward, without what is awaited, until a wake', () => {
    const parent = taskRecord('bg_1')
    const child = taskRecord('bg_2', { parent: { task: parent.id }, status: 'completed' })
    const other = taskRecord('bg_3', { status: 'completed' })
    const part = { ...emptyPart(key), tasks: [parent], ended: [child], untaken: [child, other] }
    const live = new LiveThread(part)
    const untaken = () => [...live.untaken()].map((record) => record.id)
    expect(untaken()).toEqual(['bg_3'])
    live.apply(unit({ tasks: [put({ ...parent, status: 'completed' })] }))
    expect(untaken()).toEqual(['bg_3', 'bg_2', 'bg_1'])
    live.apply(unit({ take: [taskId('bg_3')], tasks: [put(taskRecord('bg_4', { type: 'run', status: 'completed' }))] }))
    expect(untaken()).toEqual(['bg_2', 'bg_1'])
    live.apply(unit({ wakes: 0 }))
    expect(untaken()).toEqual(['bg_2', 'bg_1'])
    live.apply(unit({ wakes: 1, take: [taskId('bg_1')] }))
    expect(() => live.untaken()).toThrow(untakenNotRead)
  })

  it('orders runs: the running one, then the queue by place', () => {
    const run = (id: string, status: 'pending' | 'running', place: number) =>
      taskRecord(id, { type: 'run', status, place })
    const runs = [run('bg_1', 'pending', 7), run('bg_2', 'running', 9), run('bg_3', 'pending', 3)]
    const live = new LiveThread({ ...emptyPart(key), tasks: [taskRecord('bg_0'), ...runs] })
    expect(live.runs().map((each) => each.id)).toEqual(['bg_2', 'bg_3', 'bg_1'])
    expect(inRunningOrder(runs)).toBe(runs)
  })

  it('fills in instants and numbers once they are known', () => {
    const live = new LiveThread(emptyPart(key))
    const record = taskRecord('bg_1', { parent: { task: taskId('bg_9') } })
    const [task, other] = [record.id, taskId('bg_0')]
    const accepted = unit({
      tasks: [put(record, { isNew: true, stamps: ['createdAt', 'startedAt', 'startedSeq'] })],
      events: [
        { type: 'custom', task: other, data: '{}' },
        { type: 'task.accepted', task, data: '{}' },
        { type: 'task.started', task, data: '{}' },
        { type: 'message.created', data: '{}' },
      ],
    })
    live.apply(accepted)
    live.stamp(accepted, { committed: true, first: 11, at: 500, taken: [] })
    expect(live.task(task)).toMatchObject({ createdAt: 500, startedAt: 500, startedSeq: 14, firstSeq: 12, seq: 13 })
    const emit = unit({
      operation: 'emit',
      fence: { task, epoch: 1 },
      report: { progress: 0.5 },
      events: [{ type: 'custom', task, data: '{}' }],
    })
    live.apply(emit)
    live.stamp(emit, { committed: true, first: 20, at: 600, taken: [] })
    expect(live.task(task)).toMatchObject({ progress: 0.5, createdAt: 500, firstSeq: 12, seq: 20 })
    expect(live.task(other)).toBeUndefined()
  })

  it('holds mail in order until it is read or its reader has ended', () => {
    const reader = taskRecord('bg_1')
    const live = new LiveThread({ ...emptyPart(key), tasks: [reader], mail: [mailTo('m1', 'bg_1')] })
    live.apply(unit({ mail: [mailTo('m2', 'bg_1'), mailTo('m3', 'bg_1')] }))
    live.apply(unit({ read: ['m1', 'none'] }))
    expect([...live.mailOf(reader.id)].map((mail) => mail.id)).toEqual(['m2', 'm3'])
    live.apply(unit({ tasks: [put({ ...reader, status: 'completed' })] }))
    expect([...live.mailOf(reader.id)]).toEqual([])
  })

  it('puts what is collected back to the place of its end, and drops from anywhere', () => {
    const reader = taskRecord('bg_1')
    const mail = [1, 3, 3, 5].map((place, n) => mailTo(`m${n}`, 'bg_1', { place }))
    const live = new LiveThread({ ...emptyPart(key), tasks: [reader], mail })
    const ids = () => [...live.mailOf(reader.id)].map(({ id }) => id)
    const ends = [3, 0, 9].map((place) => mailTo(`end${place}`, 'bg_1', { place, ended: taskId('bg_2') }))
    live.apply(unit({ mail: ends }))
    expect(ids()).toEqual(['end0', 'm0', 'm1', 'm2', 'end3', 'm3', 'end9'])
    live.apply(unit({ read: ['m1', 'end0', 'end9'] }))
    expect(ids()).toEqual(['m0', 'm2', 'end3', 'm3'])
    live.apply(unit({ read: ['m3', 'end3', 'm0', 'm2'], mail: [mailTo('m4', 'bg_1')] }))
    expect(ids()).toEqual(['m4'])
  })

  it('counts what messages take in bytes, with their label and what stands around them', () => {
    const reader = taskRecord('bg_1', { type: 'run' })
    const live = new LiveThread({ ...emptyPart(key), tasks: [reader], mail: [mailTo('m1', 'bg_1')] })
    expect(live.messageBytes).toBe(2 + 256)
    const labelled = mailTo('m2', 'bg_1', { content: '"漢字"', from: 'é' })
    const steering = mailTo('m3', 'bg_1', { steer: '{"input":"go"}' })
    const collected = mailTo('m4', 'bg_1', { content: '"the result of a child"', ended: taskId('bg_2') })
    live.apply(unit({ mail: [labelled, steering, collected] }))
    expect(live.messageBytes).toBe(2 + 256 + 8 + 2 + 256)
    live.apply(unit({ read: ['m1', 'm3', 'm4'] }))
    expect(live.messageBytes).toBe(8 + 2 + 256)
    live.apply(unit({ tasks: [put({ ...reader, status: 'completed' })] }))
    expect(live.messageBytes).toBe(0)
  })

  it('looks at no other message when one is sent or read', () => {
    let looks = 0
    const look = (mail: Mail, name: string | symbol): unknown => {
      looks += 1
      return Reflect.get(mail, name)
    }
    const watched = (mail: Mail) => new Proxy(mail, { get: look })
    const ids = Array.from({ length: 500 }, (_, n) => `m${n}`)
    const mail = ids.map((id, place) => watched(mailTo(id, 'bg_1', { place })))
    const live = new LiveThread({ ...emptyPart(key), tasks: [taskRecord('bg_1'), taskRecord('bg_2')], mail })
    for (const id of ids) {
      live.apply(unit({ mail: [watched(mailTo(`${id}.2`, 'bg_2', { place: 500 }))] }))
      expect(live.messageBytes).toBeGreaterThan(0)
    }
    for (const id of ids) live.apply(unit({ read: [`${id}.2`] }))
    for (const id of ids) live.apply(unit({ read: [id] }))
    expect(live.messageBytes).toBe(0)
    expect(looks / ids.length).toBeLessThan(50)
  })

  it('holds questions in the order in which they were asked, until they are taken or their task has ended', () => {
    const asker = taskRecord('bg_1')
    const question = (id: string): QuestionRecord => {
      return { id, key, task: asker.id, stepKey: id, text: '?', askedAt: 0, taken: false }
    }
    const questions = ['q1', 'q2', 'q3'].map(question)
    const live = new LiveThread({ ...emptyPart(key), tasks: [asker], questions })
    const answered = { ...question('q1'), answer: '1', by: 'me' }
    const taken = { ...question('q2'), closed: 'timeout', taken: true } as const
    live.apply(unit({ questions: [answered, taken].map((record) => ({ record, isNew: false })) }))
    expect(live.questionsOf(asker.id)).toEqual([answered, question('q3')])
    live.apply(unit({ tasks: [put({ ...asker, status: 'completed' })] }))
    expect(live.questionsOf(asker.id)).toEqual([])
  })
})

describe('isAwaited', () => {
  const child = taskRecord('bg_2', { status: 'completed', parent: { task: taskId('bg_1') } })

  it('holds for an untaken end with a live parent or a wake, and for no run', () => {
    expect(isAwaited(child, () => true)).toBe(true)
    expect(isAwaited(child, () => false)).toBe(false)
    expect(isAwaited({ ...child, wake: 'helper' }, () => false)).toBe(true)
    expect(isAwaited({ ...child, wake: 'helper', taken: true }, () => true)).toBe(false)
    expect(isAwaited({ ...child, type: 'run' }, () => true)).toBe(false)
    expect(isAwaited(taskRecord('bg_3', { status: 'completed' }), () => true)).toBe(false)
  })
})
