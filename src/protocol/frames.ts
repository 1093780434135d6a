import type { Event } from '../core/event.ts'
import type { TaskId } from '../core/id.ts'
import type { Message, Part } from '../core/message.ts'
import type { OnBusy } from '../core/prompt.ts'
import type { Question } from '../core/question.ts'
import type { OnResult, Task } from '../core/task.ts'
import type { Problem } from './problem.ts'

/** Chosen by the client, and repeated in whatever answers the frame. */
export type FrameId = string | number

/** What a client sends over a WebSocket. */
export type ClientFrame =
  | RunFrame
  | AttachFrame
  | DetachFrame
  | WatchFrame
  | UnwatchFrame
  | CancelFrame
  | SendFrame
  | AnswerFrame
  | PingFrame

interface Framed<Type extends string> {
  readonly type: Type
  readonly id?: FrameId
}

export interface RunFrame extends Framed<'run'> {
  readonly thread: string
  readonly agent: string
  readonly prompt?: string
  readonly parts?: readonly Part[]
  readonly input?: unknown
  readonly description?: string
  readonly onBusy?: OnBusy
  readonly onResult?: OnResult
  readonly timeoutMs?: number
  readonly metadata?: Readonly<Record<string, unknown>>
  readonly idempotencyKey?: string
}

export interface AttachFrame extends Framed<'attach'> {
  readonly thread: string
  readonly task?: string
  /** Without it the snapshot comes first. */
  readonly after?: number
  readonly types?: readonly string[]
}

export interface DetachFrame extends Framed<'detach'> {
  readonly thread: string
  readonly task?: string
}

/** Asks for what happens in all threads from now on. */
export interface WatchFrame extends Framed<'watch'> {
  readonly types?: readonly string[]
}

export type UnwatchFrame = Framed<'unwatch'>

export interface CancelFrame extends Framed<'cancel'> {
  readonly thread: string
  readonly task?: string
  readonly scope?: 'runs' | 'all'
  readonly reason?: string
}

export interface SendFrame extends Framed<'send'> {
  readonly thread: string
  readonly task: string
  readonly content: unknown
  readonly from?: string
}

export interface AnswerFrame extends Framed<'answer'> {
  readonly question: string
  readonly answer: unknown
}

export type PingFrame = Framed<'ping'>

/** A run as it was accepted, on the wire. */
export type AcceptedTask = Task & { readonly steered?: string; readonly interrupted?: readonly TaskId[] }

/** What a server sends over a WebSocket. */
export type ServerFrame =
  | (Framed<'accepted'> & { readonly task: AcceptedTask; readonly replayed?: true })
  | (Framed<'attached'> & { readonly head: number })
  | (Framed<'snapshot'> & {
      readonly head: number
      readonly first: number
      readonly messages: readonly Message[]
      readonly tasks: readonly Task[]
      readonly live: readonly { readonly task: TaskId; readonly parts: readonly Part[] }[]
      readonly questions: readonly Question[]
    })
  | (Framed<'event'> & { readonly event: Event })
  | (Framed<'end'> & { readonly task: TaskId })
  | Framed<'detached'>
  | Framed<'watching'>
  | Framed<'unwatched'>
  | (Framed<'cancelled'> & { readonly cancelled: readonly TaskId[] })
  | (Framed<'sent'> & { readonly messageId: string })
  | (Framed<'answered'> & { readonly question: Question })
  | Framed<'pong'>
  | (Framed<'error'> & { readonly problem: Problem })
