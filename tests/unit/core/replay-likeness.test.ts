import { describe, expect, it } from 'vitest'
import { taskId } from '../../../src/core/id.ts'
import { Replay } from '../../../src/core/replay.ts'
import { StepKeys, type StepKind, type StepRecord } from '../../../src/core/step.ts'

function recorded(key: string, kind: StepKind, input: string, overlapped: boolean): StepRecord {
  return { task: taskId('bg_0'), key, kind, input, value: JSON.stringify(key), overlapped, attempt: 1, seq: 0 }
}

/** Asks for steps of one key, each with what it is given, as an execution does; answers with the paths they get. */
function paths(records: readonly StepRecord[], kind: StepKind, key: string, inputs: readonly string[]): string[] {
  const replay = new Replay(records)
  const keys = new StepKeys()
  return inputs.map((input) => {
    const alike = (base: string) => replay.alike(base, kind, input)
    const path = keys.take(undefined, key, alike, (free) => replay.isFree(free, kind))
    const found = replay.ask(path, kind, input) === undefined ? 'new' : 'recorded'
    return `${found} ${path}`
  })
}

describe('steps of one key that were given something', () => {
  const sideBySide = [
    recorded('search', 'tool', 'a', true),
    recorded('search#2', 'tool', 'b', true),
    recorded('search#3', 'tool', 'a', true),
  ]

  it('are found by it, in whatever order they are asked for', () => {
    expect(paths(sideBySide, 'tool', 'search', ['b', 'a', 'a'])).toEqual([
      'recorded search#2',
      'recorded search',
      'recorded search#3',
    ])
  })

  it('are new if they overlapped and none was given the same, and take nobody’s place', () => {
    expect(paths(sideBySide, 'tool', 'search', ['c', 'b', 'd', 'a'])).toEqual([
      'new search#4',
      'recorded search#2',
      'new search#5',
      'recorded search',
    ])
  })

  it('are new beyond as many as are recorded', () => {
    expect(paths(sideBySide, 'tool', 'search', ['a', 'a', 'a'])).toEqual([
      'recorded search',
      'recorded search#3',
      'new search#4',
    ])
  })

  it('are a mismatch if they never overlapped and a tool is given something else', () => {
    const sequence = [recorded('search', 'tool', 'a', false), recorded('search#2', 'tool', 'b', false)]
    expect(() => paths(sequence, 'tool', 'search', ['c'])).toThrow('recorded with another input')
    expect(() => paths(sequence, 'tool', 'search', ['a', 'c'])).toThrow('recorded with another input')
  })

  it('are the same step if they never overlapped and a child or a sleep is given something else', () => {
    const spawns = [recorded('~spawn', 'spawn', 'a', false), recorded('~spawn#2', 'spawn', 'b', false)]
    expect(paths(spawns, 'spawn', '~spawn', ['c', 'b'])).toEqual(['recorded ~spawn', 'recorded ~spawn#2'])
    const sleeps = [recorded('~sleep', 'sleep', '10', true), recorded('~sleep#2', 'sleep', '20', true)]
    expect(paths(sleeps, 'sleep', '~sleep', ['20', '11'])).toEqual(['recorded ~sleep#2', 'recorded ~sleep'])
  })

  it('are a mismatch if they are of another kind now', () => {
    const records = [recorded('search', 'tool', 'a', true)]
    expect(() => paths(records, 'step', 'search', ['a'])).toThrow('recorded as tool, but is now step')
  })
})
