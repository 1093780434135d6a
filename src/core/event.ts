import type { TaskError } from './errors.ts'
import { type JsonText, type TaskId, type ThreadId, type ThreadKey, threadOf } from './id.ts'
import type { Message } from './message.ts'
import type { Closing, Question } from './question.ts'
import type { Task, Usage } from './task.ts'

/** What each type of event carries. The log may hold types a reader does not know; it ignores them. */
export interface EventData {
  'task.accepted': { readonly task: Task; readonly steered?: string; readonly inputOmitted?: true }
  'task.started': { readonly attempt: number; readonly node: string }
  'task.resumed': {
    readonly attempt: number
    readonly node: string
    readonly keep: number
    readonly dropped?: readonly Range[]
  }
  'task.cancelling': { readonly by: string; readonly reason?: string }
  // `completedAt` is there if it is not the instant of the event: on a task that was restored.
  'task.completed': {
    readonly result?: unknown
    readonly resultOmitted?: true
    readonly unread?: readonly string[]
    readonly completedAt?: number
  }
  'task.failed': {
    readonly error: TaskError
    readonly partial?: true
    readonly unread?: readonly string[]
    readonly completedAt?: number
  }
  'task.cancelled': {
    readonly error: TaskError
    readonly forced?: true
    readonly partial?: true
    readonly unread?: readonly string[]
    readonly completedAt?: number
  }
  'message.created': { readonly message: Message; readonly partsOmitted?: true }
  'text.delta': { readonly text: string }
  thinking: { readonly text: string }
  'tool.call': { readonly id: string; readonly name: string; readonly input: unknown }
  'tool.result': {
    readonly id: string
    readonly output?: unknown
    readonly error?: string
    readonly outputOmitted?: true
  }
  file: { readonly mediaType: string; readonly name?: string; readonly url: string }
  answer: { readonly output: unknown }
  progress: { readonly value: number; readonly note?: string }
  usage: Usage
  custom: { readonly name: string; readonly payload?: unknown }
  'inbox.accepted': { readonly id: string; readonly from?: string; readonly content: unknown; readonly steer?: true }
  'question.asked': { readonly question: Question }
  'question.answered': { readonly id: string; readonly answer: unknown; readonly by: string }
  'question.closed': { readonly id: string; readonly reason: Closing }
}

/** The types of events that there are now. Later versions may add some. */
export type EventType = keyof EventData

/** First and last number of a stretch of the log, both included. */
export type Range = readonly [first: number, last: number]

/** An entry of a thread's log as everybody sees it. */
export type Event = {
  [Type in EventType]: {
    readonly thread: ThreadId
    readonly seq: number
    readonly task?: TaskId
    readonly type: Type
    readonly at: number
    readonly epoch?: number
    readonly data: EventData[Type]
  }
}[EventType]

/** An event before its commit: without number and instant, its data already encoded. */
export interface EventDraft {
  readonly task?: TaskId
  readonly type: EventType
  readonly epoch?: number
  /** The innermost step that emitted it. Decides on resume whether it counts; not shown to readers. */
  readonly step?: string
  readonly data: JsonText
}

/** An event as the store gives it back. */
export interface StoredEvent extends EventDraft {
  readonly seq: number
  readonly at: number
}

/** A draft as its commit made it. */
export function storedEvent(draft: EventDraft, seq: number, at: number): StoredEvent {
  const { type, task, epoch, step, data } = draft
  // Nearly every event is one of a running task, and what is written out takes a fraction of what is spread.
  if (task !== undefined && epoch !== undefined && step === undefined) return { seq, at, type, task, epoch, data }
  return { ...draft, seq, at }
}

/** How a task may end. */
export const terminalTypes: readonly string[] = ['task.completed', 'task.failed', 'task.cancelled']

export function isTerminalEvent(event: { readonly type: string }): boolean {
  return terminalTypes.includes(event.type)
}

/** What an agent puts out: these make the parts of its message. */
export const partTypes: readonly EventType[] = ['text.delta', 'thinking', 'tool.call', 'tool.result', 'file', 'answer']

const emittedTypes: readonly string[] = [...partTypes, 'progress', 'custom', 'usage']

/** What an agent emits can be abandoned by a resume; what the runtime writes about a task stands. */
export function isEmitted(event: { readonly type: string }): boolean {
  return emittedTypes.includes(event.type)
}

/**
 * An embedded task, message or question carries the number or instant of its own event, which are not known when its
 * text is encoded. They are left out of the text and put back by whoever reads it, here. A restored task was accepted
 * earlier and brings that instant.
 */
export function toEvent(key: ThreadKey, stored: StoredEvent): Event {
  const data = JSON.parse(stored.data) as Record<string, unknown>
  if (stored.type === 'task.accepted')
    data['task'] = { createdAt: stored.at, ...(data['task'] as object), seq: stored.seq }
  if (stored.type === 'message.created') Object.assign(data['message'] as object, { seq: stored.seq, at: stored.at })
  if (stored.type === 'question.asked') Object.assign(data['question'] as object, { askedAt: stored.at })
  const { seq, at, task, type, epoch } = stored
  const thread = threadOf(key)
  // Nearly every event is one of a running task; what may be absent is spread only where it may be.
  if (task !== undefined && epoch !== undefined) return { thread, seq, task, type, at, epoch, data } as Event
  const event = {
    thread,
    seq,
    ...(task !== undefined && { task }),
    type,
    at,
    ...(epoch !== undefined && { epoch }),
    data,
  }
  return event as Event
}
