import { expect } from 'vitest'
import type { Event } from '../../src/core/event.ts'
import type { Part } from '../../src/core/message.ts'
import { contains } from '../../src/core/step.ts'
import type { Runtime } from '../../src/runtime/runtime.ts'
import type { World } from './world.ts'

/*
 * What holds of every story, wherever its processes die:
 *
 * I1 The log is numbered 1, 2, 3 … without a hole and its instants never go back. What a watcher saw stays: coming back with
 *    its last number, it sees every event once and in order, over all crashes.
 * I2 A task has one ending, its last event.
 * I3 A task ends as it would have without a crash: status, result, error, and the instant, so that a sleep waits only for
 *    the rest, or as much later as the story allows. There are the same tasks, so no child is spawned twice.
 * I4 What counts of what a task emitted, by `keep` and `dropped`, is what it would have emitted without a crash: no gap, no
 *    repeat, no message read twice. The conversation is the same.
 * I5 A recorded step is not executed again. One that is not is executed at most once per process.
 * I6 What a task is told of the conversation is the same in every attempt.
 */

/** Which attempt of which task is at work. */
interface Attempt {
  readonly taskId: string
  readonly attempt: number
}

/** How a thread came out. Ids are replaced by names or descriptions, because numbers that a crash had allocated are not used again. */
export interface Picture {
  readonly log: readonly Event[]
  readonly seen: readonly Event[]
  readonly tasks: readonly {
    readonly who: string
    readonly ending: string
    readonly elapsedMs: number | undefined
    readonly emits: readonly string[]
  }[]
  readonly messages: readonly { readonly head: string; readonly parts: readonly Part[] }[]
  readonly executions: Executions
}

/** What agents note of themselves: each execution of a step, by the path that the step has. */
export class Executions {
  readonly #here: World
  readonly #counts = new Map<string, number>()
  readonly #told = new Map<string, string>()
  readonly violations: string[] = []

  constructor(here: World) {
    this.#here = here
  }

  /** Notes an execution, and gives the value of the step back. */
  note<Value = undefined>(ctx: Attempt, path: string, value?: Value): Value | undefined {
    const step = `attempt ${ctx.attempt} of ${ctx.taskId} executes ${path}`
    const steps = this.#here.committed.flatMap((unit) => unit.steps ?? []).filter((made) => made.task === ctx.taskId)
    const isRecorded = steps.some(({ key }) => key === path || contains(key, path))
    if (isRecorded) this.violations.push(`${step}, which is recorded`)
    const count = (this.#counts.get(step) ?? 0) + 1
    this.#counts.set(step, count)
    if (count > 1) this.violations.push(`${step} ${count} times`)
    return value
  }

  /** Notes what a task was told, which must be the same in every attempt. */
  noteSame(ctx: Attempt, what: string, value: unknown): void {
    const key = `${ctx.taskId} ${what}`
    const text = JSON.stringify(value)
    const known = this.#told.get(key) ?? text
    this.#told.set(key, known)
    if (known !== text) this.violations.push(`attempt ${ctx.attempt} of ${key}: ${text} instead of ${known}`)
  }
}

/** What may differ from a story that is told without a crash. */
export interface Allowed {
  /** Branches run side by side, so what they emit may come in any order. */
  readonly isParallel?: boolean
  /** Tasks may end so much later. */
  readonly lateMsMax?: number
}

export function checkInvariants(picture: Picture, calm: Picture, allowed: Allowed, where: string): void {
  const { isParallel = false, lateMsMax = 0 } = allowed
  const { log, seen, executions } = picture
  const numbers = log.map((event) => event.seq)
  expect(numbers, where).toEqual(log.map((_event, index) => index + 1))
  const instants = log.map((event) => event.at)
  expect(instants, where).toEqual(instants.toSorted((a, b) => a - b))
  expect(seen, where).toEqual(log)
  for (const events of Map.groupBy(log, (event) => event.task).values()) {
    expect(events.filter(isEnding), where).toEqual([events.at(-1)])
  }
  expect(comparable(picture, isParallel), where).toEqual(comparable(calm, isParallel))
  const lateMs = picture.tasks.map(({ elapsedMs = 0 }, n) => elapsedMs - (calm.tasks[n]?.elapsedMs ?? 0))
  expect(Math.min(...lateMs), where).toBeGreaterThanOrEqual(0)
  expect(Math.max(...lateMs), where).toBeLessThanOrEqual(lateMsMax)
  expect(executions.violations, where).toEqual([])
}

export async function pictureOf(
  runtime: Runtime,
  log: readonly Event[],
): Promise<Pick<Picture, 'log' | 'tasks' | 'messages'>> {
  const { tasks } = await runtime.list({ thread: 't', limit: 1000 })
  const names = new Map<string, string>(tasks.map(({ id, name, description }) => [id, name ?? description]))
  const withNames = (text: string): string => text.replaceAll(/bg_\d+/g, (id) => withNames(names.get(id) ?? '?'))
  const anonymous = (value: unknown) => withNames(JSON.stringify(value))
  const startAt = log[0]?.at ?? 0
  const pictured = tasks.map(({ id, status, result, error, progress, usage, completedAt }) => {
    const elapsedMs = completedAt === undefined ? undefined : completedAt - startAt
    const ending = anonymous({ status, result, error, progress, usage })
    const own = log.filter((event) => event.task === id)
    const emits = counted(own).map(({ type, data }) => anonymous({ type, data }))
    return { who: withNames(names.get(id) ?? id), ending, emits, elapsedMs }
  })
  const messages = await runtime.messages('t')
  return {
    log,
    tasks: pictured.toSorted((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1)),
    messages: messages.map(({ role, parts, finish, task }) => ({
      head: anonymous({ role, task, finish }),
      parts: JSON.parse(anonymous(parts)) as Part[],
    })),
  }
}

const emittedTypes = ['text.delta', 'thinking', 'tool.call', 'tool.result', 'answer', 'progress', 'usage', 'custom']

/** What a client goes by: the wire contract's own words on `keep` and `dropped`, and nothing of the runtime's. */
function counted(events: readonly Event[]): Event[] {
  let emits: Event[] = []
  for (const event of events) {
    if (event.type === 'task.resumed') {
      const { keep, dropped = [] } = event.data
      const isDropped = (seq: number) => seq > keep || dropped.some(([first, last]) => first <= seq && seq <= last)
      emits = emits.filter(({ seq }) => !isDropped(seq))
    }
    if (emittedTypes.includes(event.type)) emits.push(event)
  }
  return emits
}

/**
 * What must be the same. What parallel branches emit may come in any order, so their texts are compared word by word, and
 * which of their calls of one tool has which ordinal is not.
 */
function comparable({ tasks, messages }: Picture, isParallel: boolean): unknown {
  const timeless = tasks.map(({ who, ending, emits }) => ({ who, ending, emits }))
  if (!isParallel) return { tasks: timeless, messages }
  return {
    tasks: timeless.map((task) => ({ ...task, emits: task.emits.map(withoutOrdinals).toSorted() })),
    messages: messages.map(({ head, parts }) => ({ head, parts: parts.flatMap(loose).toSorted() })),
  }
}

function loose(part: Part): string[] {
  if (part.type !== 'text' && part.type !== 'reasoning') return [withoutOrdinals(JSON.stringify(part))]
  const words = part.text.split(' ').filter((word) => word !== '')
  return words.map((word) => `${part.type} ${word}`)
}

function withoutOrdinals(text: string): string {
  return text.replaceAll(/#\d+/g, '')
}

function isEnding(event: Event): boolean {
  return ['task.completed', 'task.failed', 'task.cancelled'].includes(event.type)
}
