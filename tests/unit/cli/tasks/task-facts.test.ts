import { describe, expect, it } from 'vitest'
import { taskFacts } from '../../../../src/cli/tasks/task-facts.ts'
import type { Circumstances } from '../../../../src/cli/tasks/why.ts'
import type { Task } from '../../../../src/client/index.ts'
import { wholeSummary } from '../../runtime/task-summary.ts'

const now = 1000

/** What is said of the hook of a task. */
function saidOf(hook: Task['hook']): string | undefined {
  const { hook: _other, ...rest } = wholeSummary
  const task = { ...rest, thread: 't', ...(hook && { hook }) } as Task
  const around = { task, now, children: [], events: [], questions: [] } as unknown as Circumstances
  return taskFacts(around).find(([name]) => name === 'onEnded')?.[1]
}

describe('what is known of a task', () => {
  it.each([
    [0, 'first in the queue'],
    [4, 'number 5 in the queue'],
  ])('says of the position %i: %s', (position, said) => {
    const task = { ...wholeSummary, position } as unknown as Task
    const facts = taskFacts({ task, now, children: [], events: [] } as unknown as Circumstances)
    expect(Object.fromEntries(facts)).toMatchObject({ position: said })
  })

  it.each([
    [undefined, undefined],
    [{ attempts: 0, nextAt: 1000 }, 'to be called'],
    [{ attempts: 2, error: 'not now', nextAt: 61_000 }, 'failed 2 times, again in 1m: not now'],
    [{ attempts: 440, error: 'not now' }, 'failed 440 times, given up: not now'],
  ])('says of the hook %j: %s', (hook, said) => {
    expect(saidOf(hook)).toBe(said)
  })
})
