import { describe, expect, it } from 'vitest'
import { type Circumstances, waitingOf } from '../../../console/src/views/task/waiting.ts'
import type { Question, Task } from '../../../src/client/index.ts'

const now = 1_000_000

function task(id: string, more: object = {}): Task {
  const base = { id, thread: 't', seq: 1, type: 'run', agent: 'writer', status: 'pending', attempt: 1, epoch: 1 }
  return { ...base, description: id, createdAt: now - 60_000, ...more } as unknown as Task
}

function question(of: string, more: object = {}): Question {
  return { id: `q_${of}`, thread: 't', task: of, text: 'Go?', askedAt: now - 125_000, ...more } as unknown as Question
}

const running = (id: string, more: object = {}) => task(id, { status: 'running', startedAt: now - 12_400, ...more })
const agents = [{ name: 'writer' }, { name: 'reader', concurrency: 2 }]

function waiting(of: Task, more: Partial<Circumstances> = {}) {
  return waitingOf({ task: of, now, queue: [], questions: [], agents, ...more })
}

describe('what a task waits for', () => {
  const [second, third] = [task('bg_2'), task('bg_3')]

  it('is the run before it, with its place in the queue', () => {
    const queue = [second, third]
    expect(waiting(second, { run: running('bg_1'), queue })).toEqual({
      text: 'queued behind bg_1, which has run for 12 s; first in the queue',
      task: 'bg_1',
    })
    expect(waiting(third, { run: running('bg_1'), queue })?.text).toContain('number 2 in the queue')
  })

  it('is the first of the queue where nothing runs', () => {
    expect(waiting(third, { queue: [second, third] })).toEqual({
      text: 'queued behind bg_2; number 2 in the queue',
      task: 'bg_2',
    })
  })

  it('is a node that has its agent, if no node has it', () => {
    const gone = task('bg_2', { agent: 'painter' })
    expect(waiting(gone, { run: running('bg_1'), queue: [gone] })).toEqual({
      text: 'no node that answers has its agent painter; start a server that has it',
    })
  })

  it('is a slot, or its turn where its agent executes only so many, if nothing else holds it', () => {
    expect(waiting(second, { queue: [second] })).toEqual({ text: 'may start, and waits for a free slot' })
    const child = task('bg_9', { type: 'agent', agent: 'reader' })
    expect(waiting(child)).toEqual({
      text: 'may start, and waits for its turn: its agent reader executes at most 2 at once',
    })
  })

  it('is not guessed before its thread and the agents are read', () => {
    expect(waiting(second)).toBeUndefined()
    expect(waitingOf({ task: second, now, queue: [second], questions: [] })).toBeUndefined()
  })

  it('is an answer to its own question, or to one of a task below', () => {
    const one = running('bg_1')
    expect(waiting(one, { questions: [question('bg_4'), question('bg_1')] })).toEqual({
      text: 'waits for an answer to its question, for 2 m 05 s',
    })
    expect(waiting(one, { questions: [question('bg_4')] })).toEqual({
      text: 'bg_4 below it waits for an answer, for 2 m 05 s',
      task: 'bg_4',
    })
    const two = [question('bg_1'), question('bg_1', { askedAt: now })]
    expect(waiting(one, { questions: two })?.text).toBe('waits for answers to 2 questions, for 2 m 05 s')
  })

  it('is the end of its grace time while it is cancelled, whatever it asks', () => {
    const one = running('bg_1', { cancelRequestedAt: now - 3000 })
    expect(waiting(one, { questions: [question('bg_1')] })?.text).toBe(
      'being cancelled for 3 s; it is forced when its grace time is over',
    )
  })

  it('is nothing while it is at work, and once it has ended', () => {
    expect(waiting(running('bg_1'))).toBeUndefined()
    expect(waiting(task('bg_1', { status: 'completed' }))).toBeUndefined()
  })
})
