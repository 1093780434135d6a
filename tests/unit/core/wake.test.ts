import { describe, expect, it } from 'vitest'
import type { Surroundings } from '../../../src/core/decision.ts'
import { end } from '../../../src/core/end.ts'
import { taskId } from '../../../src/core/id.ts'
import { defaultLimits } from '../../../src/core/limits.ts'
import { emptyPart, type LivePart, wakeBytesMax, wakeResultsMax } from '../../../src/core/live-part.ts'
import { LiveThread, untakenNotRead } from '../../../src/core/live-thread.ts'
import { PartsFold } from '../../../src/core/parts.ts'
import type { TaskRecord } from '../../../src/core/task.ts'
import { key, taskRecord } from './task-record.ts'

const around: Surroundings = {
  node: 'node_1',
  limits: defaultLimits,
  newTaskId: () => taskId('bg_woken'),
  takeSlot: () => false,
  versionOf: () => undefined,
}
const armed = taskRecord('bg_armed', { status: 'running', epoch: 1, wake: 'helper' })

function ended(count: number, fields: Partial<TaskRecord> = {}): TaskRecord[] {
  return Array.from({ length: count }, (_, n) => taskRecord(`bg_${n}`, { status: 'completed', endPlace: n, ...fields }))
}

/** Ends the armed task, and answers with the run that it wakes. */
function wokenBy(part: Partial<LivePart>): TaskRecord | undefined {
  const live = new LiveThread({ ...emptyPart(key), rev: 9_000, tasks: [armed], ...part })
  const ending = { outcome: { status: 'completed' }, output: new PartsFold() } as const
  const { unit } = end(live, around, armed.id, 1, ending)
  const woken = unit?.tasks?.find(({ record }) => record.id === 'bg_woken')?.record
  if (woken) expect(unit?.take?.toSorted()).toEqual(wakesOf(woken).toSorted())
  return woken
}

function wakesOf(woken: TaskRecord | undefined): string[] {
  return (JSON.parse(woken?.metadata ?? '{"wakes": []}') as { wakes: string[] }).wakes
}

describe('a wake', () => {
  it('is not decided before what nobody took was read', () => {
    expect(() => wokenBy({})).toThrow(untakenNotRead)
    expect(wokenBy({ wakes: 8 })).toBeUndefined()
  })

  it('takes what nobody took with what wakes, and names the first few', () => {
    const woken = wokenBy({ untaken: ended(4) })
    expect(wakesOf(woken)).toEqual(['bg_0', 'bg_1', 'bg_2', 'bg_3', 'bg_armed'])
    expect(woken?.description).toBe('Results of bg_0, bg_1, bg_2 and 2 more')
  })

  it('takes so many at most, the oldest, and always what wakes', () => {
    const wakes = wakesOf(wokenBy({ untaken: ended(wakeResultsMax + 5) }))
    expect(wakes).toHaveLength(wakeResultsMax)
    expect([wakes[0], wakes.at(-2), wakes.at(-1)]).toEqual(['bg_0', `bg_${wakeResultsMax - 2}`, 'bg_armed'])
  })

  it('takes no more once they are large together', () => {
    const untaken = ended(3, { result: JSON.stringify('x'.repeat(wakeBytesMax / 2)) })
    expect(wakesOf(wokenBy({ untaken }))).toEqual(['bg_0', 'bg_1', 'bg_armed'])
    const ends = [taskRecord('bg_9', { status: 'completed', wake: 'helper', result: `"${'x'.repeat(wakeBytesMax)}"` })]
    expect(wakesOf(wokenBy({ untaken, ended: ends }))).toEqual(['bg_9', 'bg_armed'])
  })
})
