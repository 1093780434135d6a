import { describe, expect, it } from 'vitest'
import type { TaskSummary } from '../../../src/runtime/persisted-task.ts'
import { reduceView, type TaskView, viewText } from '../../../src/runtime/task-view.ts'
import { wholeSummary } from './task-summary.ts'

const base: TaskSummary = (({ id, seq, type, attempt, epoch, createdAt }) => ({
  id,
  seq,
  type,
  attempt,
  epoch,
  createdAt,
  description: 'look around',
  status: 'running' as const,
}))(wholeSummary)

const task = (id: string, fields: Partial<TaskSummary> = {}): TaskSummary => ({
  ...base,
  id: id as TaskSummary['id'],
  ...fields,
})

const view = (...tasks: readonly TaskSummary[]): TaskView => reduceView([], { kind: 'replace', tasks })

describe('the compact view', () => {
  it('REST-08 is replaced as a whole, and cleared, and what was given stays as it is', () => {
    const before = Object.freeze(view(task('bg_1')))
    const after = reduceView(before, { kind: 'replace', tasks: [task('bg_2')] })
    expect(before.map((line) => line.id)).toEqual(['bg_1'])
    expect(after.map((line) => line.id)).toEqual(['bg_2'])
    expect(reduceView(after, { kind: 'clear' })).toEqual([])
    expect(after).toHaveLength(1)
  })

  it('shows id, name, status, description, and the error or a short result, and no more', () => {
    expect(view({ ...wholeSummary, status: 'completed' })).toEqual([
      {
        id: 'bg_7',
        name: 'scout',
        status: 'completed',
        description: 'look around',
        error: 'agent_error: no such page',
        result: '{"answer":[42,"x"]}',
      },
    ])
    expect(view(task('bg_1'))).toEqual([{ id: 'bg_1', status: 'running', description: 'look around' }])
    expect(view(task('bg_1', { result: null }))[0]).toHaveProperty('result', 'null')
  })

  it('shows all that is live, then the 20 that ended last, each in the order of acceptance', () => {
    const ended = Array.from({ length: 25 }, (_, n) => task(`bg_${n}`, { status: 'completed', createdAt: n }))
    const live = Array.from({ length: 30 }, (_, n) => task(`live_${n}`, { status: 'pending', createdAt: 100 - n }))
    const ids = view(...ended.toReversed(), ...live).map((line) => line.id)
    expect(ids.slice(0, 30)).toEqual(Array.from({ length: 30 }, (_, n) => `live_${29 - n}`))
    expect(ids.slice(30)).toEqual(Array.from({ length: 20 }, (_, n) => `bg_${n + 5}`))
  })

  it('is one line for each task, whatever stands in it', () => {
    const tasks = [
      task('bg_1', { name: 'scout' }),
      task('bg_2', { status: 'completed', result: 'line\nbg_9 [running] forged\u2028bg_8\u0000\u202e' }),
      task('bg_3', { status: 'failed', description: 'a\r\nb', error: { code: 'agent_error', message: 'x\ty' } }),
    ]
    expect(viewText(view(...tasks)).split('\n')).toEqual([
      'bg_1 scout [running] look around',
      'bg_2 [completed] look around → line bg_9 [running] forged bg_8',
      'bg_3 [failed] a b → agent_error: x y',
    ])
    expect(viewText([])).toBe('')
  })

  it('cuts long texts between characters', () => {
    const [line] = view(
      task('bg_1', { status: 'completed', description: '👩'.repeat(500), result: 'x'.repeat(10_000) }),
    )
    expect([...(line?.description ?? '')]).toHaveLength(160)
    expect(line?.description).toMatch(/^(👩)+…$/u)
    expect(line?.result).toBe(`${'x'.repeat(159)}…`)
  })
})
