import { describe, expect, it } from 'vitest'
import { createThreadView, reduceView, type ThreadView } from '../../../src/client/index.ts'
import type { SnapshotItem, ThreadEvent } from '../../../src/client/thread-event.ts'
import { taskId, threadId } from '../../../src/core/id.ts'
import type { Message } from '../../../src/core/message.ts'
import type { Question } from '../../../src/core/question.ts'
import type { Task } from '../../../src/core/task.ts'
import { event } from './events.ts'

function accepted(id: string, seq: number, more: Partial<Task> & { steered?: string } = {}): ThreadEvent {
  const { steered, ...rest } = more
  const task: Task = {
    ...{ id: taskId(id), thread: threadId('t'), seq, type: 'run', description: id, status: 'pending' },
    ...{ attempt: 0, epoch: 0, createdAt: seq },
    ...rest,
  }
  return event('task.accepted', { task, ...(steered !== undefined && { steered }) }, { seq, task: id })
}

const started = (id: string, seq: number) => event('task.started', { attempt: 1, node: 'n' }, { seq, task: id })
const say = (seq: number, text: string) => event('text.delta', { text }, { seq, task: 'bg_0' })
const resumed = (seq: number, keep: number, ...dropped: [number, number][]) =>
  event('task.resumed', { attempt: 2, node: 'n', keep, ...(dropped.length > 0 && { dropped }) }, { seq })

function view(...events: readonly ThreadEvent[]): ThreadView {
  return events.reduce(reduceView, createThreadView())
}

const run = [accepted('bg_0', 1), started('bg_0', 2)]
const bg0 = taskId('bg_0')

const empty: SnapshotItem = {
  type: 'snapshot',
  thread: threadId('t'),
  head: 1,
  first: 1,
  watchers: 0,
  messages: [],
  tasks: [],
  live: [],
  questions: [],
}

describe('the view of a thread', () => {
  it('shows what a running task has put out, until its message is there', () => {
    const live = view(...run, say(3, 'a'), event('thinking', { text: 't' }, { seq: 4 }), say(5, 'b'), say(6, 'c'))
    expect(live.live.get(bg0)).toEqual([
      { type: 'text', text: 'a' },
      { type: 'reasoning', text: 't' },
      { type: 'text', text: 'bc' },
    ])
    const message = { id: 'm', thread: threadId('t'), seq: 7, role: 'assistant', parts: [], task: bg0, at: 7 } as const
    const said = reduceView(live, event('message.created', { message }, { seq: 7 }))
    expect(said.live.size).toBe(0)
    const over = reduceView(said, event('task.completed', {}, { seq: 8 }))
    expect(over.messages).toEqual([message])
    expect(over.tasks.get(bg0)).toMatchObject({ status: 'completed', seq: 8 })
    expect(over.head).toBe(8)
  })

  it('shows what a task has put out until it ends, if it ends without a message', () => {
    const live = view(...run, say(3, 'a'))
    expect(live.live.size).toBe(1)
    expect(reduceView(live, event('task.completed', {}, { seq: 4 })).live.size).toBe(0)
  })

  it('shows what was put out as long as its message is there without its parts', () => {
    const { parts: _omitted, ...message } = {
      ...({ id: 'm', thread: threadId('t'), seq: 4, role: 'assistant', parts: [], task: bg0, at: 4 } as const),
    }
    const large = event('message.created', { message: message as Message, partsOmitted: true }, { seq: 4 })
    const after = view(...run, say(3, 'a'), large)
    expect(after.live.get(bg0)).toEqual([{ type: 'text', text: 'a' }])
  })

  it('abandons what a resume does not keep, and what it drops', () => {
    const before = [...run, say(3, 'a'), say(4, 'b'), say(5, 'c'), say(6, 'd')]
    expect(view(...before, resumed(7, 5, [4, 4]), say(8, 'e')).live.get(bg0)).toEqual([{ type: 'text', text: 'ace' }])
    expect(view(...before, resumed(7, 2)).live.size).toBe(0)
    const twice = view(...before, resumed(7, 5), say(8, 'x'), resumed(9, 8, [4, 5]))
    expect(twice.live.get(bg0)).toEqual([{ type: 'text', text: 'ax' }])
  })

  it('keeps the parts of a snapshot whole, or not at all, when a task goes on', () => {
    const { tasks } = view(...run)
    const parts = [{ type: 'text', text: 'so far ' }] as const
    const snapshot = { ...empty, head: 10, tasks: [...tasks.values()], live: [{ task: bg0, parts }] }
    const shown = (...events: readonly ThreadEvent[]) =>
      events.reduce(reduceView, reduceView(createThreadView(), snapshot)).live.get(bg0)
    expect(shown(say(11, 'and on'))).toEqual([{ type: 'text', text: 'so far and on' }])
    expect(shown(say(11, 'lost'), say(12, 'x'), resumed(13, 10), say(14, 'new'))).toEqual([
      { type: 'text', text: 'so far new' },
    ])
    expect(shown(say(11, 'a'), resumed(12, 5), say(13, 'new'))).toEqual([{ type: 'text', text: 'new' }])
  })

  it('shows the queue in the order in which it starts', () => {
    const queued = [accepted('bg_1', 3), accepted('bg_2', 4), accepted('bg_3', 5, { type: 'agent' })]
    const waiting = view(...run, ...queued)
    const ids = ({ queue }: ThreadView) => queue.map(({ id, position }) => `${position} ${id}`)
    expect(ids(waiting)).toEqual(['0 bg_1', '1 bg_2'])
    expect(ids(reduceView(waiting, started('bg_1', 6)))).toEqual(['0 bg_2'])
    const error = { code: 'cancelled', message: 'cancelled' } as const
    expect(ids(reduceView(waiting, event('task.cancelled', { error }, { seq: 6, task: 'bg_1' })))).toEqual(['0 bg_2'])
  })

  it('puts a run that grew from a message where the message was', () => {
    const letter = event('inbox.accepted', { id: 'm1', content: 'steer' }, { seq: 3 })
    const ended = event('task.completed', {}, { seq: 5 })
    const grown = accepted('bg_2', 6, { steered: 'm1' })
    const { queue } = view(...run, letter, accepted('bg_1', 4), ended, grown)
    expect(queue.map(({ id }) => id)).toEqual(['bg_2', 'bg_1'])
  })

  it('shows questions while they are open', () => {
    const question = (id: string): Question => ({ id, thread: threadId('t'), task: bg0, text: '?', askedAt: 1 })
    const asked = (seq: number, id: string) => event('question.asked', { question: question(id) }, { seq })
    const open = view(...run, asked(3, 'a'), asked(4, 'b'), asked(5, 'c'))
    expect(open.questions.map(({ id }) => id)).toEqual(['a', 'b', 'c'])
    const answered = event('question.answered', { id: 'a', answer: 1, by: 'owner' }, { seq: 6 })
    const closed = event('question.closed', { id: 'b', reason: 'ended' }, { seq: 7 })
    expect([answered, closed].reduce(reduceView, open).questions).toEqual([question('c')])
  })

  it('takes the newer of two copies of a task', () => {
    const now = view(...run)
    const task = now.tasks.get(bg0) as Task
    const newer: Task = { ...task, seq: 9, progress: 0.5 }
    expect(reduceView(now, { type: 'task', task: newer }).tasks.get(bg0)).toEqual(newer)
    expect(reduceView(now, { type: 'task', task: { ...newer, seq: 1 } })).toBe(now)
    const unheard: Task = { ...task, id: taskId('bg_9'), status: 'pending', seq: 3 }
    expect(reduceView(now, { type: 'task', task: unheard }).queue.map(({ id }) => id)).toEqual(['bg_9'])
  })

  it('is not changed by what is not newer, and takes any snapshot after a notice', () => {
    const now = view(...run, say(3, 'a'))
    expect(reduceView(now, say(3, 'a'))).toBe(now)
    expect(reduceView(now, empty)).toBe(now)
    const notice = { type: 'notice', code: 'offset_ahead', after: 3, message: 'ahead' } as const
    expect(reduceView(reduceView(now, notice), empty)).toEqual({ ...createThreadView(), head: 1 })
  })

  it('keeps what did not change the same object', () => {
    const before = view(...run, say(3, 'a'), accepted('bg_1', 4))
    const after = reduceView(before, event('progress', { value: 0.5 }, { seq: 5 }))
    expect(after.messages).toBe(before.messages)
    expect(after.live).toBe(before.live)
    expect(after.queue).toBe(before.queue)
    expect(after.tasks.get(taskId('bg_1'))).toBe(before.tasks.get(taskId('bg_1')))
    expect(after.tasks.get(bg0)).toMatchObject({ progress: 0.5 })
  })

  it('goes on from a copy as from a snapshot', () => {
    const { live, ...rest } = view(...run, say(3, 'a'), accepted('bg_1', 4), accepted('bg_2', 5))
    const copy = { ...rest, live: new Map(live) }
    const next = [say(6, 'b'), accepted('bg_3', 7)].reduce(reduceView, copy)
    expect(next.live.get(bg0)).toEqual([{ type: 'text', text: 'ab' }])
    expect(next.queue.map(({ id }) => id)).toEqual(['bg_1', 'bg_2', 'bg_3'])
  })
})
