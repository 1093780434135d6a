import { describe, expect, it } from 'vitest'
import { type Circumstances, whyNot } from '../../../../src/cli/tasks/why.ts'
import type { Question, Task, TaskId, ThreadEvent, ThreadId } from '../../../../src/client/index.ts'

const now = 1_000_000

function task(id: string, more: Partial<Task> = {}): Task {
  return {
    id: id as TaskId,
    thread: 't' as ThreadId,
    seq: 1,
    type: 'run',
    agent: 'helper',
    description: 'x',
    status: 'running',
    attempt: 1,
    epoch: 1,
    createdAt: now - 60_000,
    startedAt: now - 60_000,
    ...more,
  }
}

function event(seq: number, type: string, data: object, at = now): ThreadEvent {
  return { thread: 't', task: 'bg_1', seq, type, at, data } as unknown as ThreadEvent
}

function texts(more: Partial<Circumstances>): string[] {
  const agents = [{ name: 'helper' }]
  const usual = { task: task('bg_1'), now, runs: [], questions: [], children: [], agents, events: [] }
  return whyNot({ ...usual, ...more }, 'holdfast').map(({ text, command }) =>
    command === undefined ? text : `${text} [${command}]`,
  )
}

const { startedAt: _startedAt, ...unstarted } = task('bg_9', { status: 'pending', attempt: 0, epoch: 0 })

describe('why a task does not move', () => {
  it('has no reason once it has ended', () => {
    expect(texts({ task: task('bg_1', { status: 'failed' }), agents: [], notReady: 'draining' })).toEqual([])
  })

  it('is nothing that the server knows of while it is at work, which says where, and what it did last', () => {
    const events = [event(7, 'text.delta', { text: 'x' }, now - 4000)]
    expect(texts({ node: 'here', events })).toEqual([
      'At work on the node here, or sleeping, or waiting for a message: nothing that the server knows of holds it up. ' +
        'Its last event is number 7, text.delta, 4s ago. [holdfast logs bg_1]',
    ])
    expect(texts({})).toEqual([
      'At work, or sleeping, or waiting for a message: nothing that the server knows of holds it up. [holdfast logs bg_1]',
    ])
  })

  it('is the run before it, and the others in their order', () => {
    const pending = { ...unstarted, position: 2 }
    const runs = [
      pending,
      { ...pending, id: 'bg_8' as TaskId, position: 1 },
      { ...pending, id: 'bg_7' as TaskId, position: 0 },
      { ...pending, id: 'bg_10' as TaskId, position: 3 },
      task('bg_6', { startedAt: now - 240_000 }),
    ]
    expect(texts({ task: pending, runs })).toEqual([
      'Queued behind bg_6, which has run for 4m; it is number 3 in the queue. Before it come also bg_7, bg_8. [holdfast inspect bg_6]',
    ])
  })

  it('is the run before it, of the first in the queue', () => {
    const pending = { ...unstarted, position: 0 }
    expect(texts({ task: pending, runs: [pending, task('bg_6')] })).toEqual([
      'Queued behind bg_6, which has run for 1m; it is first in the queue. [holdfast inspect bg_6]',
    ])
  })

  it('is the pending run before it where none is active', () => {
    const pending = { ...unstarted, position: 1 }
    expect(texts({ task: pending, runs: [pending, { ...pending, id: 'bg_8' as TaskId, position: 0 }] })).toEqual([
      'Queued behind bg_8; it is number 2 in the queue. [holdfast inspect bg_8]',
    ])
  })

  it('is a slot if nothing else holds it up', () => {
    const [text] = texts({ task: { ...unstarted, position: 0 } })
    expect(text).toContain('waits for a free slot')
  })

  it('is a place of its agent where that has a limit, which a running task may wait for as well', () => {
    const agents = [{ name: 'helper', concurrency: 4 }]
    const limit =
      'its agent helper executes at most 4 at once, over all nodes (its concurrency, else the limit executingTasksPerAgent).'
    const others = '[holdfast ps --status running]'
    expect(texts({ task: unstarted, agents })).toEqual([
      `It may start, and waits for its turn: ${limit} While fewer execute, it waits for a free slot (HOLDFAST_CONCURRENCY). ${others}`,
    ])
    expect(texts({ agents })).toEqual([
      `It is at work, or sleeping, or waiting for a message or to go on: ${limit} ${others}`,
    ])
    expect(texts({ agents, task: task('bg_1', { agent: 'other' }) })[0]).toMatch(/^No node that answers has its agent/)
  })

  it('is no place of its agent while something else holds it up', () => {
    const agents = [{ name: 'helper', concurrency: 4 }]
    const pending = { ...unstarted, position: 1 }
    expect(texts({ agents, task: pending, runs: [pending, task('bg_6')] })).toEqual([
      expect.stringMatching(/^Queued behind bg_6/),
    ])
    expect(texts({ agents, children: [task('bg_2')] })).toEqual([expect.stringMatching(/^Has 1 live child/)])
    expect(texts({ agents, task: task('bg_1', { status: 'completed' }) })).toEqual([])
  })

  it('is an agent that no node has, whether it has started or not', () => {
    for (const each of [unstarted, task('bg_1')]) {
      expect(texts({ task: each, agents: [{ name: 'echo' }, { name: 'script' }] })).toEqual([
        'No node that answers has its agent helper; there are: echo, script. Start a server that has it. [holdfast agents]',
      ])
    }
  })

  it('is a server that starts nothing, or has no store', () => {
    expect(texts({ task: unstarted, notReady: 'draining' })).toEqual([
      'The server is shutting down and starts nothing new.',
    ])
    expect(texts({ task: unstarted, notReady: 'store_unavailable' })).toEqual([
      'The store of the server is not available; its log says why. [holdfast doctor]',
    ])
  })

  it('is a cancel under way, by whom and why', () => {
    const cancelled = task('bg_1', { cancelRequestedAt: now - 4000 })
    const [plain] = texts({ task: cancelled })
    expect(plain).toMatch(/^Cancelling for 4s\. It is ended by force when the grace time/)
    const events = [event(5, 'task.cancelling', { by: 'alice', reason: 'too slow' })]
    expect(texts({ task: cancelled, events })[0]).toMatch(/^Cancelling for 4s by alice \("too slow"\)\./)
  })

  it('is its open questions, with the command that answers', () => {
    const question: Question = {
      id: 'q_1',
      thread: 't' as ThreadId,
      task: 'bg_1' as TaskId,
      text: 'Go on?',
      askedAt: now - 3000,
    }
    const questions = [
      { ...question, options: ["don't", 'yes'], expiresAt: now + 60_000 },
      { ...question, id: 'q_2' },
      { ...question, id: 'q_3', task: 'bg_2' as TaskId },
      { ...question, id: 'q_4', answeredAt: now },
    ]
    expect(texts({ questions })).toEqual([
      `Waits for an answer to q_1 for 3s: "Go on?" (don't | yes); it expires in 1m. [holdfast answer q_1 'don'\\''t']`,
      'Waits for an answer to q_2 for 3s: "Go on?". [holdfast answer q_2 "…"]',
    ])
  })

  it('is a tool without a result, of this attempt', () => {
    const events = [
      event(1, 'tool.call', { id: 'a', name: 'old' }),
      event(2, 'task.resumed', {}),
      event(3, 'tool.call', { id: 'b', name: 'done' }),
      event(4, 'tool.result', { id: 'b' }),
      event(5, 'tool.call', { id: 'c', name: 'search' }, now - 9000),
    ]
    expect(texts({ events })).toEqual(['In its tool search for 9s.'])
  })

  it('is perhaps its live children', () => {
    const children = [task('bg_2'), task('bg_3', { status: 'pending' }), task('bg_4', { status: 'completed' })]
    expect(texts({ children })).toEqual([
      'Has 2 live children, which it may wait for: bg_2, bg_3. [holdfast tree bg_1]',
    ])
    const many = Array.from({ length: 7 }, (_, index) => task(`bg_${index + 2}`))
    expect(texts({ children: many })[0]).toContain('bg_2, bg_3, bg_4, bg_5, bg_6 and 2 more')
  })
})
