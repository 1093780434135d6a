import { describe, expect, it } from 'vitest'
import { type EventType, isEmitted, isTerminalEvent, type StoredEvent, toEvent } from '../../../src/core/event.ts'
import { principal, taskId, threadId, threadKey } from '../../../src/core/id.ts'

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
  'question.asked',
  'question.answered',
  'question.closed',
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

  it('puts the instant back into an embedded question', () => {
    const event = toEvent(key, stored('question.asked', { question: { id: 'q_1', text: '?' } }))
    expect(event.data).toEqual({ question: { id: 'q_1', text: '?', askedAt: 900 } })
  })
})
