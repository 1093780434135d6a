import { describe, expect, it } from 'vitest'
import { taskId } from '../../../src/core/id.ts'
import { Replay, ReplayMismatch } from '../../../src/core/replay.ts'
import type { StepRecord } from '../../../src/core/step.ts'

function recorded(key: string, fields: Partial<StepRecord> = {}): StepRecord {
  return { task: taskId('bg_1'), key, kind: 'step', overlapped: false, attempt: 1, seq: 1, ...fields }
}

function mismatch(call: () => unknown): ReplayMismatch {
  try {
    call()
  } catch (error) {
    if (error instanceof ReplayMismatch) return error
    throw error
  }
  throw new Error('There was no mismatch')
}

describe('a replay', () => {
  it('answers a recorded step by its path, in whatever order', () => {
    const records = [recorded('a'), recorded('b', { kind: 'tool', input: 'digest' })]
    const replay = new Replay(records)
    expect(replay.isReplaying).toBe(true)
    expect(replay.ask('b', 'tool', 'digest')).toBe(records[1])
    expect(replay.ask('a', 'step')).toBe(records[0])
    expect(replay.isReplaying).toBe(false)
    expect(replay.ask('c', 'step')).toBeUndefined()
    replay.finish()
  })

  it('replays nothing without a record', () => {
    const replay = new Replay([])
    expect(replay.isReplaying).toBe(false)
    expect(replay.ask('a', 'step')).toBeUndefined()
    replay.finish('a')
    replay.finish()
  })

  it('counts the steps inside a step that answers as asked', () => {
    const replay = new Replay([recorded('p/a'), recorded('p/q/b'), recorded('p')])
    expect(replay.ask('p', 'step')?.key).toBe('p')
    expect(replay.isReplaying).toBe(false)
    replay.finish()
  })

  it('does not count those of a step with a similar path', () => {
    const replay = new Replay([recorded('p'), recorded('p#2/a')])
    replay.ask('p', 'step')
    expect(replay.isReplaying).toBe(true)
    expect(replay.ask('p#2', 'step')).toBeUndefined()
    expect(replay.ask('p#2/a', 'step')?.key).toBe('p#2/a')
    replay.finish()
  })

  it('enters a step that was open at the crash, around all that is unasked', () => {
    const replay = new Replay([recorded('a'), recorded('p/q/b')])
    replay.ask('a', 'step')
    expect(replay.ask('p', 'step')).toBeUndefined()
    expect(replay.ask('p/q', 'step')).toBeUndefined()
    expect(replay.ask('p/q/b', 'step')?.key).toBe('p/q/b')
    expect(replay.ask('p/q/c', 'step')).toBeUndefined()
    replay.finish('p/q')
    replay.finish('p')
    replay.finish()
  })

  it('does not compare an input that was not recorded', () => {
    expect(new Replay([recorded('a')]).ask('a', 'step', 'digest')?.key).toBe('a')
  })
})

describe('a mismatch', () => {
  it('is another kind, and says which', () => {
    const error = mismatch(() => new Replay([recorded('a', { kind: 'sleep' })]).ask('a', 'receive'))
    expect(error).toMatchObject({ name: 'ReplayMismatch', code: 'replay_mismatch', key: 'a' })
    expect(error.message).toContain('step "a" is recorded as sleep, but is now receive')
  })

  it('is another input than the recorded one, or none', () => {
    const record = recorded('a', { kind: 'tool', input: 'digest' })
    expect(mismatch(() => new Replay([record]).ask('a', 'tool', 'other')).message).toContain('with another input')
    expect(mismatch(() => new Replay([record]).ask('a', 'tool')).key).toBe('a')
  })

  it('is a new step while a recorded one is unasked, and says which', () => {
    const replay = new Replay([recorded('a'), recorded('b', { kind: 'tool' })])
    replay.ask('a', 'step')
    const { message } = mismatch(() => replay.ask('c', 'spawn'))
    expect(message).toContain(
      'step "c" (spawn) is new, but step "b" (tool) is recorded and was not asked for before it',
    )
  })

  it('is a new step around some of what is unasked, but not all', () => {
    const replay = new Replay([recorded('p/a'), recorded('b')])
    expect(mismatch(() => replay.ask('p', 'step')).message).toContain('step "b"')
  })

  it('is a new step inside an entered one while a recorded one beside it is unasked', () => {
    const replay = new Replay([recorded('p/a')])
    replay.ask('p', 'step')
    expect(mismatch(() => replay.ask('p/b', 'step')).key).toBe('p/b')
  })

  it('waits for the end if steps overlapped', () => {
    const replay = new Replay([recorded('a', { overlapped: true }), recorded('b')])
    expect(replay.ask('c', 'step')).toBeUndefined()
    replay.ask('b', 'step')
    expect(mismatch(() => replay.finish()).message).toContain('step "a" (step) is recorded, but was never asked for')
  })

  it('is the end of an agent that left recorded steps unasked', () => {
    expect(mismatch(() => new Replay([recorded('a')]).finish()).key).toBe('a')
  })

  it('is the end of an entered step that left recorded ones inside it unasked', () => {
    const replay = new Replay([recorded('p/a', { overlapped: true }), recorded('b', { overlapped: true })])
    replay.ask('p', 'step')
    expect(mismatch(() => replay.finish('p')).key).toBe('p/a')
  })

  it('is not the failure of an entered step, which is recorded with what it did', () => {
    const replay = new Replay([recorded('p/a')])
    replay.ask('p', 'step')
    replay.fail('p')
    expect(replay.ask('b', 'step')).toBeUndefined()
    replay.finish()
  })

  it('is final, whatever the agent does after it', () => {
    const replay = new Replay([recorded('a')])
    const first = mismatch(() => replay.ask('a', 'tool'))
    expect(mismatch(() => replay.ask('a', 'step'))).toBe(first)
    expect(mismatch(() => replay.finish())).toBe(first)
    expect(mismatch(() => replay.fail('a'))).toBe(first)
  })

  it('names the versions of the agent, where they are stated', () => {
    const message = (recordedBy?: string, current?: string) =>
      mismatch(() => new Replay([recorded('a')], { recorded: recordedBy, current }).finish()).message
    expect(message('1.0', '2.0')).toContain('made by version 1.0 of the agent, this is version 2.0.')
    expect(message(undefined, '2.0')).toContain('made by version unstated of the agent, this is version 2.0.')
    expect(message()).not.toContain('version un')
  })
})
