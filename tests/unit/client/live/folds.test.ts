import { describe, expect, it } from 'vitest'
import { emptyWindow, readTo, withEvents } from '../../../../src/client/live/event-window.ts'
import { afterEvent, isToBeRead, newest, noRows, readRows } from '../../../../src/client/live/task-rows.ts'
import { threadsAfter, withOlderThreads } from '../../../../src/client/live/thread-rows.ts'
import { createThreadView, reduceView, trimView } from '../../../../src/client/thread-view.ts'
import { threadId } from '../../../../src/core/id.ts'
import type { Task } from '../../../../src/core/task.ts'
import { event } from '../events.ts'

const task = (number: number, fields: Partial<Task> = {}) =>
  ({ id: `bg_${number}`, thread: 't', seq: 1, type: 'run', status: 'pending', createdAt: number, ...fields }) as Task

describe('the rows of a task list', () => {
  it('leave out the place in the queue, which changes without an event of the task', () => {
    expect(readRows([task(1, { position: 3 })], false).shown).toEqual([task(1)])
  })

  it('remember at most 1000 live tasks that do not match, and read the others when they do', () => {
    let rows = noRows
    const filter = { status: 'running' } as const
    for (let number = 0; number < 1001; number += 1) {
      const accepted = event('task.accepted', { task: task(number) }, { seq: number + 1, task: `bg_${number}` })
      rows = afterEvent(rows, accepted, filter)
    }
    expect(rows.hidden.size).toBe(1000)
    const started = (number: number) =>
      event('task.started', { attempt: 1, node: 'n' }, { seq: 2000, task: `bg_${number}` })
    expect(isToBeRead(rows, started(0), filter)).toBe(true)
    expect(isToBeRead(rows, started(1), filter)).toBe(false)
    expect(isToBeRead(rows, { ...started(0), thread: threadId('u') }, { ...filter, thread: 't' })).toBe(false)
  })

  it('show a new task where the last page was emptied', () => {
    const rows = readRows([task(5, { status: 'running' })], true)
    const filter = { status: ['running', 'pending'] } as const
    const ended = event('task.completed', {}, { seq: 9, task: 'bg_5' })
    const empty = afterEvent(rows, ended, filter)
    expect(empty.shown).toEqual([])
    const accepted = event('task.accepted', { task: task(6) }, { seq: 10, task: 'bg_6' })
    expect(afterEvent(empty, accepted, filter).shown).toMatchObject([{ id: 'bg_6' }])
    const older = event('task.accepted', { task: task(4) }, { seq: 8, task: 'bg_4' })
    expect(afterEvent(empty, older, filter).shown).toEqual([])
  })

  it('are cut at the old end', () => {
    const rows = newest(readRows([task(3), task(2), task(1)], false), 2)
    expect(rows).toMatchObject({ shown: [{ id: 'bg_3' }, { id: 'bg_2' }], end: { id: 'bg_2' } })
  })
})

describe('the rows of a thread list', () => {
  it('put the thread of the last event first, once', () => {
    const line = (thread: string, head: number) => ({ thread: threadId(thread), head, first: 1, at: head })
    const threads = [line('a', 9), line('t', 4)]
    expect(threadsAfter(threads, event('usage', {}, { seq: 5, at: 20 }))).toEqual([
      { ...line('t', 5), at: 20 },
      line('a', 9),
    ])
    expect(threadsAfter(threads, event('usage', {}, { seq: 4 }))).toBe(threads)
    expect(withOlderThreads(threads, [line('t', 3), line('b', 1)]).map(({ thread }) => thread)).toEqual(['a', 't', 'b'])
  })
})

describe('the window of an event list', () => {
  const at = (seq: number) => event('text.delta', { text: '' }, { seq })

  it('keeps the last events and counts what it lets go', () => {
    const window = withEvents(emptyWindow(2, 2), [at(3), at(4), at(5)], 2)
    expect(window).toEqual({ events: [at(4), at(5)], head: 5, letGo: 3 })
    expect(withEvents(window, [at(4), at(5)], 2)).toBe(window)
    expect(readTo(window, 9).head).toBe(9)
    expect(readTo(window, 4)).toBe(window)
  })
})

describe('a view that is trimmed', () => {
  it('loses its oldest messages and ended tasks, and goes on as if it had them', () => {
    const accepted = (number: number, seq: number) =>
      event('task.accepted', { task: task(number, { seq }) }, { seq, task: `bg_${number}` })
    const changes = [
      accepted(0, 1),
      event('task.cancelled', { error: { code: 'cancelled', message: 'x' } }, { seq: 2, task: 'bg_0' }),
      accepted(1, 3),
      event('task.cancelled', { error: { code: 'cancelled', message: 'x' } }, { seq: 4, task: 'bg_1' }),
      accepted(2, 5),
      event('task.started', { attempt: 1, node: 'n' }, { seq: 6, task: 'bg_2' }),
      event('text.delta', { text: 'once ' }, { seq: 7, task: 'bg_2' }),
    ]
    const view = changes.reduce(reduceView, createThreadView())
    expect(trimView(view, 10, 10)).toBe(view)
    const trimmed = trimView(view, 10, 1)
    expect([...trimmed.tasks.keys()]).toEqual(['bg_1', 'bg_2'])
    const next = event('text.delta', { text: 'upon' }, { seq: 8, task: 'bg_2' })
    expect(reduceView(trimmed, next).live).toEqual(reduceView(view, next).live)
  })
})
