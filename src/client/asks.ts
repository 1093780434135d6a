import type { ErrorCode, HoldfastError } from '../core/errors.ts'
import type { TaskId } from '../core/id.ts'
import type { TaskOf } from '../core/known-agents.ts'
import type { OnBusy } from '../core/prompt.ts'
import type { Status, TerminalStatus } from '../core/status.ts'
import type { OnResult } from '../core/task.ts'

/** Every call can be given up. It is then not known whether the server did what was asked. */
export interface CallOptions {
  readonly signal?: AbortSignal
}

interface WorkOptions<Name extends string> extends CallOptions {
  readonly agent: Name
  readonly description?: string
  readonly timeoutMs?: number
  readonly metadata?: Readonly<Record<string, unknown>>
  /** One is made unless given, so that a request whose answer was lost is safely sent again. */
  readonly idempotencyKey?: string
  /** The trace that asks, as the header of W3C Trace Context writes it. */
  readonly traceparent?: string
}

/** Who answers a prompt, and what is done if the thread is busy. */
export interface RunOptions<Name extends string = string> extends WorkOptions<Name> {
  readonly onBusy?: OnBusy
  readonly onResult?: OnResult
}

/** Who does the work of a background task, and what the task is known by. */
export interface SpawnOptions<Name extends string = string> extends WorkOptions<Name> {
  readonly type?: string
  readonly name?: string
  readonly parent?: string
  readonly detached?: boolean
}

/** A task as it was accepted, now or before under the same key. */
export type Accepted<Result = unknown> = TaskOf<Result> & {
  readonly steered?: string
  readonly interrupted?: readonly TaskId[]
  readonly isReplayed?: true
}

/** A task that has ended, however it did. */
export type EndedTask<Result = unknown> = TaskOf<Result> & { readonly status: TerminalStatus }

/** Which page of a list. */
export interface PageOptions extends CallOptions {
  readonly cursor?: string
  /** 1-1000, 100 unless given. */
  readonly limit?: number
}

/** Which tasks to list; all of the principal unless something is given. */
export interface ListOptions extends PageOptions {
  readonly thread?: string
  readonly status?: Status | readonly Status[]
  readonly type?: string
  readonly name?: string
  readonly parent?: string
  /** Only tasks that no task spawned. */
  readonly roots?: boolean
}

/** Which page of a log. */
export interface LogPageOptions extends CallOptions {
  readonly after?: number
  readonly limit?: number
  readonly task?: string
  readonly types?: readonly string[]
}

/** Which part of a log to attach to, and from which number on. */
export interface AttachOptions extends CallOptions {
  /** Begins after this number; without it, with a snapshot. */
  readonly after?: number
  /** The head of a snapshot that was read before, if `after` goes on from one: a newer one is then given where one that came first would be. */
  readonly picture?: number
  /** Only events of this task; ends with it. */
  readonly task?: string
  readonly types?: readonly string[]
}

/** Which of the live events of all threads. */
export interface FirehoseOptions extends CallOptions {
  readonly types?: readonly string[]
  /** Called once, when it is first open: what is read from then on, and what it gives, leave nothing out. */
  readonly onOpen?: () => void
}

/** What a client says beside its answers, for a line of a log or a screen. */
export interface ClientNotice {
  readonly code: Extract<ErrorCode, 'offset_ahead' | 'offset_gone'> | 'reconnecting' | 'reconnected' | 'fell_back'
  readonly message: string
  readonly retryInMs?: number
  readonly error?: HoldfastError
}
