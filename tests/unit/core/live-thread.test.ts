import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { taskId } from '../../../src/core/id.ts'
import { emptyPart, isAwaited, type LivePart } from '../../../src/core/live-part.ts'
import { inRunningOrder, LiveThread } from '../../../src/core/live-thread.ts'
import { isTerminal } from '../../../src/core/status.ts'
import type { TaskRecord } from '../../../src/core/task.ts'
import type { Mail, TaskPut, Unit } from '../../../src/core/unit.ts'
import { key, taskRecord } from './task-record.ts'

const error = { code: 'agent_error', message: 'no' } as const

function unit(fields: Partial<Unit> = {}): Unit {
  return { operation: 'accept', thread: key, events: [], ...fields }
}

function put(record: TaskRecord, fields: Partial<TaskPut> = {}): TaskPut {
  return { record, isNew: false, stamps: [], ...fields }
}

function mailTo(id: string, task: string): Mail {
  return { id, task: taskId(task), place: 0, content: '""' }
}

/** All that can be seen of a live thread. */
function shown(live: LiveThread, ids: readonly string[]): unknown {
  return {
    rev: live.rev,
    wakes: live.wakes,
    isIdle: live.isIdle,
    tasks: [...live.tasks()],
    ended: [...live.ended()],
    runs: live.runs(),
    mail: ids.map((id) => live.mailOf(taskId(id))),
    children: ids.map((id) => live.children(taskId(id)).map((child) => child.id)),
    named: ['a', 'b'].map((name) => live.named(name)?.id),
  }
}

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
    expect(live.mailOf(reader.id).map((mail) => mail.id)).toEqual(['m2', 'm3'])
    live.apply(unit({ tasks: [put({ ...reader, status: 'completed' })] }))
    expect(live.mailOf(reader.id)).toEqual([])
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

describe('a live thread that is carried forward', () => {
  const ids = ['bg_0', 'bg_1', 'bg_2', 'bg_3', 'bg_4', 'bg_5']
  const id = fc.constantFrom(...ids)
  const change = fc.oneof(
    fc.record({
      do: fc.constant('accept' as const),
      id,
      parent: id,
      type: fc.constantFrom('run', 'agent'),
      wake: fc.boolean(),
    }),
    fc.record({
      do: fc.constantFrom('start' as const, 'end' as const, 'disarm' as const, 'take' as const),
      id,
    }),
    fc.record({ do: fc.constant('send' as const), id, mail: fc.nat({ max: 9 }) }),
    fc.record({ do: fc.constant('read' as const), mail: fc.nat({ max: 9 }) }),
    fc.record({ do: fc.constant('reload' as const) }),
  )
  type Change = typeof change extends fc.Arbitrary<infer Value> ? Value : never

  /** A store in a few lines: all records, and the live part searched for in them. */
  class Records {
    readonly all = new Map<string, TaskRecord>()
    readonly ends: string[] = []
    mail: Mail[] = []
    rev = 0

    part(): LivePart {
      const isLive = (task: string) => {
        const record = this.all.get(task)
        return record !== undefined && !isTerminal(record.status)
      }
      return {
        key,
        rev: this.rev,
        wakes: 0,
        tasks: [...this.all.values()].filter((record) => isLive(record.id)),
        ended: this.ends.flatMap((ended) => this.all.get(ended) ?? []).filter((record) => isAwaited(record, isLive)),
        mail: this.mail.filter((each) => isLive(each.task)),
      }
    }

    commit({ tasks = [], mail = [], read = [], take = [] }: Unit): void {
      this.rev += 1
      for (const { record } of tasks) {
        this.all.set(record.id, record)
        if (isTerminal(record.status) && !this.ends.includes(record.id)) this.ends.push(record.id)
      }
      this.mail = [...this.mail, ...mail].filter((each) => !read.includes(each.id))
      for (const task of take) {
        const record = this.all.get(task)
        if (record && isTerminal(record.status)) this.all.set(task, { ...record, taken: true })
      }
    }
  }

  it('equals one that is read anew, after any units', () => {
    fc.assert(
      fc.property(fc.array(change, { maxLength: 40 }), (changes) => {
        const records = new Records()
        let live = new LiveThread(records.part())
        for (const next of changes) {
          if (next.do === 'reload') {
            live = new LiveThread(records.part())
            continue
          }
          const decided = unit({ rev: live.rev, ...decide(next, records) })
          live.apply(decided)
          records.commit(decided)
          expect(shown(live, ids)).toEqual(shown(new LiveThread(records.part()), ids))
        }
      }),
    )
  })

  function decide(next: Exclude<Change, { do: 'reload' }>, { all, mail }: Records): Partial<Unit> {
    if (next.do === 'read') return { read: [`m${next.mail}`] }
    const record = all.get(next.id)
    if (next.do === 'accept') return record ? {} : { tasks: [accepted(next, all)] }
    if (next.do === 'take') return { take: [taskId(next.id)] }
    if (!record) return {}
    const isLive = !isTerminal(record.status)
    if (next.do === 'send') {
      const isNew = !mail.some((each) => each.id === `m${next.mail}`)
      return isLive && isNew ? { mail: [mailTo(`m${next.mail}`, next.id)] } : {}
    }
    if (next.do === 'start') return isLive ? { tasks: [put({ ...record, status: 'running' })] } : {}
    if (next.do === 'end') return isLive ? { tasks: [put({ ...record, status: 'failed', error })] } : {}
    const { wake: _disarmed, ...rest } = record
    return { tasks: [put(rest)] }
  }

  function accepted(next: Extract<Change, { do: 'accept' }>, all: Records['all']): TaskPut {
    const parent = all.get(next.parent)
    const name = ['a', 'b'].find((each) => isFree(each, all))
    const fields = {
      type: next.type,
      ...(parent && !isTerminal(parent.status) && { parent: { task: parent.id } }),
      ...(next.wake && { wake: 'helper' }),
      ...(name !== undefined && { name }),
    }
    return put(taskRecord(next.id, { status: 'pending', ...fields }), { isNew: true })
  }

  function isFree(name: string, all: Records['all']): boolean {
    return ![...all.values()].some((record) => record.name === name && !isTerminal(record.status))
  }
})
