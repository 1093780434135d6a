import { beforeAll, describe, expect, it } from 'vitest'
import type { Event, Task } from '../../../src/index.ts'
import { entriesOf, isEnding } from '../history.ts'
import { type ServedCase, violationsOf } from './check-served.ts'
import { oneStore } from './cycles.ts'

// A check that finds nothing proves nothing, unless it finds what is broken on purpose.

let sound: ServedCase

beforeAll(async () => {
  sound = (await oneStore(4, 1, () => {})).found
})

/** With the log of each thread changed, and numbered anew. */
function withLogs(change: (log: readonly Event[]) => Event[]): ServedCase {
  const threads = [...sound.threads].map(([thread, history]) => {
    const log = change(history.log).map((event, index) => ({ ...event, seq: index + 1 }))
    return [thread, { ...history, log, head: log.length }] as const
  })
  return { ...sound, threads: new Map(threads) }
}

function withTasks(change: (task: Task) => Task[]): ServedCase {
  const tasks = [...sound.tasks.values()].flatMap(change)
  return { ...sound, tasks: new Map(tasks.map((task) => [task.id, task])) }
}

function found(broken: ServedCase, complaint: RegExp): boolean {
  return violationsOf(broken).some((violation) => complaint.test(violation))
}

/** The first acknowledged entry of a kind that is about a task. */
function taskOf(kind: 'accepted' | 'ended'): string {
  return entriesOf(sound, kind)[0]?.task ?? ''
}

function cancelledTask(): string {
  return entriesOf(sound, 'cancelled').flatMap(({ tasks }) => tasks)[0] ?? ''
}

describe('what checks a server that was killed', () => {
  it('finds nothing where nothing is wrong', () => {
    expect(violationsOf(sound)).toEqual([])
  })

  it('finds an event that was given and is gone', () => {
    expect(
      found(
        withLogs((log) => log.slice(0, -1)),
        /was given as .* and is undefined/,
      ),
    ).toBe(true)
  })

  it('finds an event that is another than was given', () => {
    const broken = withLogs((log) => log.map((event) => ({ ...event, at: event.at + 1 })))
    expect(found(broken, /was given as/)).toBe(true)
  })

  it('finds a second ending, and what comes after the ending', () => {
    const twice = withLogs((log) => log.flatMap((event) => (isEnding(event) ? [event, event] : [event])))
    expect(found(twice, /has 2 endings/)).toBe(true)
    const late = withLogs((log) => log.flatMap((event) => (isEnding(event) ? [event, said(event)] : [event])))
    expect(found(late, /is after its ending/)).toBe(true)
  })

  it('finds an accepted task that is lost', () => {
    const lost = taskOf('accepted')
    expect(
      found(
        withTasks((task) => (task.id === lost ? [] : [task])),
        new RegExp(`^${lost} was accepted and is lost`),
      ),
    ).toBe(true)
  })

  it('finds a cancel that is lost', () => {
    const lost = cancelledTask()
    const broken = withTasks((task) => [task.id === lost ? { ...task, status: 'completed' } : task])
    expect(found(broken, new RegExp(`^${lost} was cancelled and is completed`))).toBe(true)
  })

  it('finds an ended task that has changed', () => {
    const changed = taskOf('ended')
    const broken = withTasks((task) => [task.id === changed ? { ...task, description: 'another' } : task])
    expect(found(broken, new RegExp(`^${changed} was read as`))).toBe(true)
  })

  it('finds a key that made two tasks', () => {
    const doubled = taskOf('accepted')
    const broken = withTasks((task) =>
      task.id === doubled ? [task, { ...task, id: 'bg_999999' as Task['id'] }] : [task],
    )
    expect(found(broken, new RegExp(`made .*${doubled}`))).toBe(true)
  })

  it('finds a message that is lost', () => {
    expect(
      found(
        withLogs((log) => log.filter(({ type }) => type !== 'inbox.accepted')),
        /lost, doubled or changed/,
      ),
    ).toBe(true)
  })

  it('finds a step that was executed again though the log tells of it', () => {
    const posted = [...sound.posted, ...sound.posted.map((effect) => ({ ...effect, attempt: effect.attempt + 1 }))]
    expect(found({ ...sound, posted }, /and executed it last in/)).toBe(true)
  })

  it('finds a result that was taken twice, or is gone', () => {
    const collected = entriesOf(sound, 'collected').filter(({ tasks }) => tasks.length > 0)
    expect(found({ ...sound, entries: [...sound.entries, ...collected] }, /was taken twice/)).toBe(true)
    const entries = sound.entries.filter(({ kind }) => kind !== 'collected' && kind !== 'collecting')
    expect(found({ ...sound, entries }, /is gone, nobody took it/)).toBe(true)
  })
})

function said(event: Event): Event {
  return { ...event, type: 'text.delta', data: { text: 'late' } }
}
