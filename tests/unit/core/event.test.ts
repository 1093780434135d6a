import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  decodeLine,
  type EventDraft,
  type EventType,
  encodeLine,
  isEmitted,
  isTerminalEvent,
  type StoredEvent,
  toEvent,
} from '../../../src/core/event.ts'
import { principal, taskId, threadId, threadKey } from '../../../src/core/id.ts'
import { encodeKey } from '../../../src/core/step.ts'

const key = threadKey(principal('owner'), threadId('t'))

const types: readonly EventType[] = [
  'task.accepted',
  'task.started',
  'task.resumed',
  'task.cancelling',
  'task.completed',
  'task.failed',
  'task.cancelled',
  'message.created',
  'text.delta',
  'thinking',
  'tool.call',
  'tool.result',
  'answer',
  'progress',
  'usage',
  'custom',
  'inbox.accepted',
]

describe('event types', () => {
  it('are emitted by agents or written by the runtime', () => {
    expect(types.filter((type) => isEmitted({ type }))).toEqual([
      'text.delta',
      'thinking',
      'tool.call',
      'tool.result',
      'answer',
      'progress',
      'usage',
      'custom',
    ])
  })

  it('are terminal for the three ways a task ends', () => {
    const terminal = types.filter((type) => isTerminalEvent({ type }))
    expect(terminal).toEqual(['task.completed', 'task.failed', 'task.cancelled'])
  })
})

describe('a line of the log', () => {
  const optional = <Value>(value: fc.Arbitrary<Value>) => fc.option(value, { nil: undefined })
  const draft = fc
    .record({
      type: fc.constantFrom(...types),
      task: optional(fc.nat().map((n) => taskId(`bg_${n}`))),
      epoch: optional(fc.nat()),
      step: optional(fc.string({ minLength: 1, maxLength: 20, unit: 'binary' }).map(encodeKey)),
      data: fc.anything({ withNullPrototype: false, withBigInt: false }).map((value) => JSON.stringify({ value })),
    })
    .map((fields): EventDraft => {
      const { task, epoch, step, ...rest } = fields
      const given = {
        ...(task !== undefined && { task }),
        ...(epoch !== undefined && { epoch }),
        ...(step !== undefined && { step }),
      }
      return { ...rest, ...given }
    })

  it('gives back the event that it was made of, data to the byte', () => {
    fc.assert(
      fc.property(draft, fc.nat(), fc.nat(), (event, seq, at) => {
        expect(decodeLine(encodeLine(event), seq, at)).toEqual({ ...event, seq, at })
      }),
    )
  })

  it('holds no line feed, so that lines can be joined and split', () => {
    fc.assert(
      fc.property(fc.array(draft, { minLength: 1, maxLength: 10 }), (events) => {
        const lines = events.map(encodeLine).join('\n').split('\n')
        expect(lines.map((line, index) => decodeLine(line, index, 0))).toEqual(
          events.map((event, index) => ({ ...event, seq: index, at: 0 })),
        )
      }),
    )
  })
})

describe('toEvent', () => {
  const stored = (type: EventType, data: unknown, more: Partial<StoredEvent> = {}): StoredEvent => ({
    seq: 7,
    at: 900,
    type,
    data: JSON.stringify(data),
    ...more,
  })

  it('shows thread, number, instant and data, and neither step nor absent fields', () => {
    const event = toEvent(key, stored('text.delta', { text: 'hi' }, { task: taskId('bg_1'), epoch: 2, step: 'a/b' }))
    expect(event).toEqual({
      thread: 't',
      seq: 7,
      task: 'bg_1',
      type: 'text.delta',
      at: 900,
      epoch: 2,
      data: { text: 'hi' },
    })
    expect(Object.keys(toEvent(key, stored('custom', { name: 'x' })))).toEqual(['thread', 'seq', 'type', 'at', 'data'])
  })

  it('puts number and instant back into an embedded task', () => {
    const event = toEvent(key, stored('task.accepted', { task: { id: 'bg_1', status: 'pending' } }))
    expect(event.data).toEqual({ task: { id: 'bg_1', status: 'pending', seq: 7, createdAt: 900 } })
  })

  it('puts number and instant back into an embedded message', () => {
    const event = toEvent(key, stored('message.created', { message: { id: 'm', parts: [] } }))
    expect(event.data).toEqual({ message: { id: 'm', parts: [], seq: 7, at: 900 } })
  })
})
