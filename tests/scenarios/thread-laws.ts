import { expect } from 'vitest'
import { isTerminalEvent } from '../../src/core/event.ts'
import { foldTask } from '../../src/core/fold-task.ts'
import { type Event, isTerminal, type Runtime, type Task } from '../../src/index.ts'
import { logOf } from './world.ts'

/** Tasks as the log tells them, oldest first. */
export function foldAll(log: readonly Event[]): Task[] {
  const tasks = new Map<string, Task>()
  for (const event of log) {
    const folded = foldTask(tasks.get(event.task ?? ''), event)
    if (folded) tasks.set(folded.id, folded)
  }
  return [...tasks.values()]
}

/** A position is counted when it is read, and no event tells of it. */
export function placeless(task: Task): Task {
  const { position: _counted, ...rest } = task
  return rest
}

/** What holds of every thread at rest, whatever was done to it. */
export async function expectLaws(runtime: Runtime, thread: string): Promise<void> {
  const log = await logOf(runtime, thread)
  expectNumbered(log)
  expectOneEndEach(log)
  expectOneRunAtATime(log)
  const folded = foldAll(log)
  const read = await Promise.all(folded.map(({ id }) => runtime.get(id)))
  expect(read.map((task) => task && placeless(task))).toEqual(folded)
  const { tasks } = await runtime.list({ thread, limit: 1000 })
  expect(tasks.map((task) => task.id).toSorted()).toEqual(folded.map((task) => task.id).toSorted())
  const said = log.flatMap((event) => (event.type === 'message.created' ? [event.data.message] : []))
  expect(await runtime.messages(thread, { limit: 1000 })).toEqual(said)
  const { results, running } = await runtime.results(thread)
  const work = folded.filter((task) => task.type !== 'run')
  expect(running).toBe(work.filter((task) => !isTerminal(task.status)).length)
  for (const result of results) expect(work.find((task) => task.id === result.task)?.status).toBe(result.status)
}

function expectNumbered(log: readonly Event[]): void {
  expect(log.map((event) => event.seq)).toEqual(log.map((_event, index) => index + 1))
  expect(log.map((event) => event.at)).toEqual(log.map((event) => event.at).toSorted((a, b) => a - b))
}

function expectOneEndEach(log: readonly Event[]): void {
  for (const [task, events] of Map.groupBy(log, (event) => event.task)) {
    expect([task, events[0]?.type]).toEqual([task, 'task.accepted'])
    const end = events.findIndex(isTerminalEvent)
    if (end >= 0) expect([task, events.slice(end + 1)]).toEqual([task, []])
  }
}

function expectOneRunAtATime(log: readonly Event[]): void {
  const runs = new Set(
    log.flatMap((event) => (event.type === 'task.accepted' && event.data.task.type === 'run' ? [event.task] : [])),
  )
  let active: string | undefined
  for (const event of log.filter(({ task }) => runs.has(task))) {
    if (event.type === 'task.started') {
      expect(active).toBeUndefined()
      active = event.task
    }
    if (isTerminalEvent(event) && event.task === active) active = undefined
  }
}
