import { describe, expect, it } from 'vitest'
import { type AskedQuestion, type Asking, answer, ask, expire } from '../../../src/core/ask.ts'
import type { Decision } from '../../../src/core/decision.ts'
import { end } from '../../../src/core/end.ts'
import { taskId } from '../../../src/core/id.ts'
import { defaultLimits } from '../../../src/core/limits.ts'
import { emptyPart } from '../../../src/core/live-part.ts'
import { LiveThread } from '../../../src/core/live-thread.ts'
import { PartsFold } from '../../../src/core/parts.ts'
import type { TaskRecord } from '../../../src/core/task.ts'
import { key, taskRecord } from './task-record.ts'

const around = {
  node: 'node_1',
  limits: { ...defaultLimits, openQuestionsPerTask: 3 },
  newTaskId: () => {
    throw new Error('no task is made here')
  },
  takeSlot: () => false,
  versionOf: () => undefined,
}

const task = taskId('bg_1')
const step = (stepKey: string) => (value: string) =>
  ({ task, key: stepKey, kind: 'ask', value, overlapped: false, attempt: 1, seq: 0 }) as const

/** A thread with one running task, whose units are committed at the instants of their decisions. */
class Talk {
  readonly live: LiveThread
  readonly types: string[] = []
  #count = 0

  constructor(fields: Partial<TaskRecord> = {}) {
    this.live = new LiveThread({ ...emptyPart(key), tasks: [taskRecord('bg_1', fields)] })
  }

  ask(asked: Partial<AskedQuestion> & { stepKey: string }, now = 0): Asking | undefined {
    const given = { id: `q_${this.#count++}`, text: '?', ...asked }
    return this.#decide(ask(this.live, around, { task, epoch: 1 }, given, now, step(asked.stepKey)), now)
  }

  answer(id: string, value: unknown, now = 0) {
    const given = { answer: JSON.stringify(value), by: 'alice' }
    return this.#decide(answer(this.live, around, { id, task }, given, now), now)
  }

  expire(id: string, now: number) {
    return this.#decide(expire(this.live, around, { id, task }, now), now)
  }

  #decide<Value>({ unit, value }: Decision<Value>, at: number): Value {
    if (!unit) return value
    this.live.apply(unit)
    this.live.stamp(unit, { committed: true, first: this.types.length + 1, at, taken: [] })
    this.types.push(...unit.events.map(({ type }) => type))
    return value
  }
}

describe('a question', () => {
  it('is asked once per step, and what came of it is taken once, with the record of the step', () => {
    const talk = new Talk()
    expect(talk.ask({ stepKey: 'k' }, 5)).toMatchObject({ open: { id: 'q_0', stepKey: 'k' } })
    expect(talk.ask({ stepKey: 'k' }, 6)).toMatchObject({ open: { id: 'q_0', askedAt: 5 } })
    expect(talk.answer('q_0', { yes: true }, 7)).toMatchObject({ answer: '{"yes":true}', by: 'alice' })
    expect(talk.answer('q_0', 'again', 8)).toBeUndefined()
    expect(talk.ask({ stepKey: 'k' }, 9)).toEqual({ end: { answer: { yes: true }, by: 'alice' } })
    expect(talk.live.questionsOf(task)).toEqual([])
    expect(talk.types).toEqual(['question.asked', 'question.answered'])
  })

  it('is told from others of its key by what is asked, in whatever order they come back', () => {
    const talk = new Talk()
    talk.ask({ stepKey: 's/~ask', input: 'a' })
    talk.ask({ stepKey: 's/~ask#2', input: 'b' })
    expect(talk.ask({ stepKey: 's/~ask', input: 'b' })).toMatchObject({ open: { id: 'q_1' } })
    expect(talk.ask({ stepKey: 's/~ask#2', input: 'a' })).toMatchObject({ open: { id: 'q_0' } })
    expect(talk.ask({ stepKey: 's/~ask', input: 'new' })).toMatchObject({ open: { id: 'q_4', stepKey: 's/~ask#q_4' } })
    expect(talk.ask({ stepKey: 's/~ask', input: 'new' })).toMatchObject({ open: { id: 'q_4' } })
    expect(talk.types).toEqual(Array(3).fill('question.asked'))
  })

  it('is of one step, though another asks the same', () => {
    const talk = new Talk()
    talk.ask({ stepKey: '~ask', input: 'a' })
    const isOthers = (id: string) => id === 'q_0'
    expect(talk.ask({ stepKey: '~ask#2', input: 'a', isOthers })).toMatchObject({ open: { id: 'q_1' } })
    expect(talk.live.questionsOf(task).map(({ stepKey }) => stepKey)).toEqual(['~ask', '~ask#2'])
  })

  it('is the one of its key, whatever its text has become, if it is alone', () => {
    const talk = new Talk()
    talk.ask({ stepKey: '~ask', input: 'a' })
    talk.ask({ stepKey: 'other/~ask', input: 'a' })
    expect(talk.ask({ stepKey: '~ask', input: 'b' })).toMatchObject({ open: { id: 'q_0' } })
    expect(talk.types.length).toBe(2)
  })

  it('expires at its instant by its default, or is closed, once', () => {
    const talk = new Talk()
    talk.ask({ stepKey: 'k', timeoutMs: 10, default: '"so"' }, 100)
    talk.ask({ stepKey: 'l', timeoutMs: 10 }, 100)
    expect([talk.expire('q_0', 109), talk.expire('q_0', 110), talk.expire('q_0', 111)]).toEqual([false, true, false])
    expect([talk.expire('q_1', 110), talk.expire('q_1', 110), talk.expire('q_9', 110)]).toEqual([true, false, false])
    expect(talk.ask({ stepKey: 'k' }, 200)).toEqual({ end: { answer: 'so', by: 'timeout' } })
    expect(talk.ask({ stepKey: 'l' }, 200)).toEqual({ end: { unanswered: true } })
    expect(talk.types.slice(2)).toEqual(['question.answered', 'question.closed'])
  })

  it('that an answer finds expired is expired by it', () => {
    const talk = new Talk()
    talk.ask({ stepKey: 'k', timeoutMs: 10, default: '"so"' }, 100)
    expect(talk.answer('q_0', 'late', 110)).toBeUndefined()
    expect(talk.ask({ stepKey: 'k' }, 110)).toEqual({ end: { answer: 'so', by: 'timeout' } })
    expect(talk.types).toEqual(['question.asked', 'question.answered'])
  })

  it('that its own step finds expired is expired and taken in one unit', () => {
    const talk = new Talk()
    talk.ask({ stepKey: 'k', timeoutMs: 10 }, 100)
    expect(talk.ask({ stepKey: 'k' }, 110)).toEqual({ end: { unanswered: true } })
    expect(talk.live.questionsOf(task)).toEqual([])
  })

  it('stops the time of its task until none of its questions waits', () => {
    const talk = new Talk({ timeoutMs: 50 })
    const clock = () => {
      const { waitedMs, waitingSince } = talk.live.task(task) ?? {}
      return [waitedMs, waitingSince]
    }
    talk.ask({ stepKey: 'k' }, 100)
    talk.ask({ stepKey: 'l', timeoutMs: 20 }, 110)
    expect(clock()).toEqual([undefined, 100])
    talk.answer('q_0', 1, 120)
    expect(clock()).toEqual([undefined, 100])
    talk.expire('q_1', 130)
    expect(clock()).toEqual([30, undefined])
    talk.ask({ stepKey: 'm' }, 200)
    talk.answer('q_2', 1, 205)
    expect(clock()).toEqual([35, undefined])
  })

  it('is closed by the end of its task after the calls, and what was answered stays so', () => {
    const talk = new Talk()
    talk.ask({ stepKey: 'k' })
    talk.ask({ stepKey: 'l' })
    talk.answer('q_0', 1)
    const output = new PartsFold()
    output.add({ type: 'tool.call', data: JSON.stringify({ id: 'c', name: 'n', input: {} }) })
    const { unit } = end(talk.live, around, task, 1, { outcome: { status: 'completed' }, output })
    expect(unit?.events.map(({ type }) => type)).toEqual(['tool.result', 'question.closed', 'task.completed'])
    expect(unit?.questions).toMatchObject([{ record: { id: 'q_1', closed: 'ended' }, isNew: false }])
  })

  it('is not asked and not answered while its task is being cancelled', () => {
    const talk = new Talk()
    talk.ask({ stepKey: 'k' })
    const record = talk.live.task(task) as TaskRecord
    const part = {
      ...emptyPart(key),
      tasks: [{ ...record, cancelRequestedAt: 1 }],
      questions: talk.live.questionsOf(task),
    }
    const live = new LiveThread(part)
    const given = { answer: '1', by: 'alice' }
    expect(answer(live, around, { id: 'q_0', task }, given, 0)).toEqual({ value: undefined })
    const again = () => ask(live, around, { task, epoch: 1 }, { id: 'q_1', stepKey: 'l', text: '?' }, 0, step('l'))
    const message = expect.stringContaining('bg_1 is being cancelled')
    expect(again).toThrow(expect.objectContaining({ message, facts: { taskStatus: 'cancelled' } }))
  })

  it('is refused to a task under another epoch, and to one that asks too much', () => {
    const talk = new Talk()
    const asked = { id: 'q', stepKey: 'k', text: '?' }
    expect(ask(talk.live, around, { task, epoch: 2 }, asked, 0, step('k'))).toEqual({ value: undefined })
    for (const stepKey of ['a', 'b', 'c']) talk.ask({ stepKey })
    expect(() => talk.ask({ stepKey: 'd' })).toThrow('openQuestionsPerTask')
    talk.answer('q_0', 1)
    expect(() => talk.ask({ stepKey: 'd', text: 'x'.repeat(300_000) })).toThrow('at most 262144 bytes')
    expect(talk.ask({ stepKey: 'd' })).toMatchObject({ open: {} })
  })

  it('takes one of its options only', () => {
    const talk = new Talk()
    talk.ask({ stepKey: 'k', options: ['yes', '1'] })
    for (const wrong of ['no', 1, null, ['yes']]) {
      const message = `${JSON.stringify(wrong)} is none of the options: yes, 1`
      expect(() => talk.answer('q_0', wrong)).toThrow(message)
    }
    expect(talk.answer('q_0', '1')).toMatchObject({ answer: '"1"' })
  })

  it('says which options there are, but for the rest of a long text', () => {
    const talk = new Talk()
    talk.ask({ stepKey: 'k', options: ['a'.repeat(500), 'b'] })
    const cut = `"${'x'.repeat(199)}… is none of the options: ${'a'.repeat(200)}…`
    expect(() => talk.answer('q_0', 'x'.repeat(500))).toThrow(new RegExp(`^${cut}$`))
  })
})
