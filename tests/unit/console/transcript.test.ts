import { describe, expect, it } from 'vitest'
import { type Asked, type Entry, type ThreadParts, transcriptOf } from '../../../console/src/views/thread/transcript.ts'
import type { Message, Part, Question, Task } from '../../../src/client/index.ts'

function task(id: string, rest: Partial<Task> = {}): Task {
  const at = Number(id.slice(3))
  const made = { type: 'run', description: id, status: 'completed', attempt: 1, epoch: 1, seq: at, createdAt: at * 10 }
  return { id, thread: 't', startedAt: at * 10 + 1, ...made, ...rest } as Task
}

function message(seq: number, role: Message['role'], of: string, rest: Partial<Message> = {}): Message {
  return { id: `m${seq}`, thread: 't', seq, role, parts: [], task: of, at: seq, ...rest } as Message
}

function child(id: string, parent: object, rest: Partial<Task> = {}): Task {
  return task(id, { type: 'agent', parent, ...rest })
}

function question(id: string, of: string): Asked {
  return { question: { id, thread: 't', task: of, text: '?', askedAt: 0 } as Question }
}

function transcript(parts: Partial<ThreadParts>): Entry[] {
  return transcriptOf({ messages: [], tasks: [], live: new Map(), questions: [], first: 1, ...parts })
}

const keys = (entries: readonly Entry[]) => entries.map(({ key }) => key)
const text = (words: string): Part => ({ type: 'text', text: words })

describe('a transcript', () => {
  it('puts what a run says in the place of its message, while it runs and after', () => {
    const asked = message(1, 'user', 'bg_1')
    const live = new Map([['bg_1', [text('so far')]]])
    const running = transcript({ messages: [asked], tasks: [task('bg_1', { status: 'running' })], live })
    expect(keys(running)).toEqual(['said-m1', 'run-bg_1'])
    expect(running[1]).toMatchObject({ isLive: true, parts: [text('so far')] })
    const answer = message(9, 'assistant', 'bg_1', { parts: [text('so far and on')], finish: 'end_turn' })
    const ended = transcript({ messages: [asked, answer], tasks: [task('bg_1')] })
    expect(keys(ended)).toEqual(keys(running))
    expect(ended[1]).toMatchObject({ isLive: false, parts: [text('so far and on')] })
  })

  it('puts a run after what it began with, and what it was told later into it, while it runs and after', () => {
    const messages = [message(1, 'user', 'bg_1'), message(5, 'user', 'bg_1'), message(7, 'user', 'bg_1')]
    const running = transcript({ messages, tasks: [task('bg_1', { status: 'running' })] })
    const answer = message(9, 'assistant', 'bg_1', { parts: [text('so far and on')] })
    const ended = transcript({ messages: [...messages, answer, message(11, 'user', 'bg_2')], tasks: [task('bg_1')] })
    expect(keys(running)).toEqual(['said-m1', 'run-bg_1'])
    expect(keys(ended)).toEqual(['said-m1', 'run-bg_1', 'said-m11'])
    for (const [, run] of [running, ended]) expect(run).toMatchObject({ steering: [{ id: 'm5' }, { id: 'm7' }] })
  })

  it('shows what a run was told though the run itself is not shown', () => {
    const messages = [message(1, 'user', 'bg_1'), message(5, 'user', 'bg_1')]
    expect(keys(transcript({ messages }))).toEqual(['said-m1', 'said-m5'])
  })

  it('shows a run that failed without a word, and leaves out those that wait', () => {
    const tasks = [task('bg_1', { status: 'failed' }), task('bg_2', { status: 'pending' })]
    expect(keys(transcript({ messages: [message(1, 'user', 'bg_1')], tasks }))).toEqual(['said-m1', 'run-bg_1'])
  })

  it('shows a run whose prompt is older than the messages only while it runs', () => {
    const tasks = [task('bg_1', { status: 'failed' }), task('bg_2', { status: 'running' })]
    expect(keys(transcript({ tasks }))).toEqual(['run-bg_2'])
  })

  it('keeps the words of a run that is no longer known', () => {
    expect(transcript({ messages: [message(3, 'assistant', 'bg_1')] })).toMatchObject([
      { kind: 'run', key: 'run-bg_1' },
    ])
  })

  it('knows since when a run went on by the first that was said to it, if the log is kept from there on', () => {
    const messages = [message(4, 'user', 'bg_1'), message(6, 'user', 'bg_1'), message(9, 'assistant', 'bg_1')]
    const since = (first: number) => {
      const run = transcript({ messages, tasks: [task('bg_1')], first }).find(({ kind }) => kind === 'run')
      return run?.kind === 'run' ? run.since : 'there is no run'
    }
    expect([1, 4, 5].map(since)).toEqual([4, 4, 4])
    // What steered it is no beginning.
    expect([6, 7].map(since)).toEqual([undefined, undefined])
  })

  it('puts a child at the call that spawned it, and the others with their run', () => {
    const tool: Part = { type: 'tool', id: 'c1', name: 'spawn', input: {} }
    const tasks = [
      task('bg_1', { status: 'running' }),
      child('bg_2', { task: 'bg_1', call: 'c1' }),
      child('bg_3', { task: 'bg_1' }),
      child('bg_4', { task: 'bg_3' }),
    ]
    const [, run] = transcript({ messages: [message(1, 'user', 'bg_1')], tasks, live: new Map([['bg_1', [tool]]]) })
    if (run?.kind !== 'run') throw new Error('There is no run')
    expect(run.children.map(({ id }) => id)).toEqual(['bg_3'])
    expect(run.childrenOfCall.get('c1')?.map(({ id }) => id)).toEqual(['bg_2'])
  })

  it('puts the question of a grandchild with the run it works for', () => {
    const tasks = [
      task('bg_1', { status: 'running' }),
      child('bg_2', { task: 'bg_1' }),
      child('bg_3', { task: 'bg_2' }),
    ]
    const questions = [question('q', 'bg_3')]
    expect(transcript({ messages: [message(1, 'user', 'bg_1')], tasks, questions })[1]).toMatchObject({ questions })
  })

  it('puts a task of no run between what was said before and after it', () => {
    const messages = [message(1, 'user', 'bg_1', { at: 10 }), message(4, 'user', 'bg_4', { at: 40 })]
    const tasks = [task('bg_1'), child('bg_2', {}), task('bg_4', { status: 'running' })]
    expect(keys(transcript({ messages, tasks }))).toEqual(['said-m1', 'run-bg_1', 'task-bg_2', 'said-m4', 'run-bg_4'])
  })

  it('shows a child at work beside the column if its run is not in it', () => {
    const tasks = [
      task('bg_1'),
      child('bg_2', { task: 'bg_1' }, { status: 'running' }),
      child('bg_3', { task: 'bg_1' }),
    ]
    expect(keys(transcript({ tasks }))).toEqual(['task-bg_2'])
  })

  it('puts a question with the child at work beside the column, if its run is not in it', () => {
    const tasks = [
      task('bg_1'),
      child('bg_2', { task: 'bg_1' }, { status: 'running' }),
      child('bg_3', { task: 'bg_2' }, { status: 'running' }),
    ]
    const questions = [question('q', 'bg_2'), question('r', 'bg_3')]
    expect(transcript({ tasks, questions })).toMatchObject([{ key: 'task-bg_2', questions }])
  })

  it('shows whoever asks below a child that has ended, if the run is not in the column', () => {
    const tasks = [
      task('bg_1'),
      child('bg_2', { task: 'bg_1' }),
      child('bg_3', { task: 'bg_2' }, { status: 'running' }),
    ]
    const questions = [question('q', 'bg_3')]
    expect(transcript({ tasks, questions })).toMatchObject([{ key: 'task-bg_3', questions }])
  })
})
