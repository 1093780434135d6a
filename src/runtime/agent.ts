import type { Principal, TaskId, ThreadId } from '../core/id.ts'
import type { Inbox } from '../core/inbox.ts'
import type { InboxItem } from '../core/inbox-item.ts'
import type { Readable } from '../core/mail.ts'
import type { Message, Part } from '../core/message.ts'
import type { OnBusy } from '../core/prompt.ts'
import type { Result } from '../core/result.ts'
import type { Asked, OnResult, Task, Usage } from '../core/task.ts'
import type { Logger } from './logger.ts'
import type { MessageToSend, SendAnswer } from './message-to-send.ts'
import type { StandardSchema } from './standard-schema.ts'

/**
 * The work of a task. What an async generator yields is put out (a string is said, a part is shown), and what it returns is
 * the result. After a crash it is called again from the top, and what it did through `ctx` is answered from the record.
 */
export type AgentFunction = (ctx: AgentContext, input: never) => unknown

/** An agent that other nodes, and later starts, can run and resume under its name. */
export interface Agent {
  run: AgentFunction
  /** Stored with the task; named in the error if a later version takes other steps than were recorded. */
  readonly version?: string
  readonly description?: string
  /**
   * Any Standard Schema. What it does not take is refused as `invalid_input`, and `run` is given what it makes of the rest: at
   * every start anew, from the input as it was stored, so it must make the same of the same.
   */
  readonly input?: StandardSchema
  /** A JSON Schema of its input, shown to whoever may call it; of `input` unless given. Nothing is checked against it. */
  readonly inputSchema?: object
  /**
   * False if agents must not spawn it with their background tools, because its input decides what it does, and what a model says
   * is not to be trusted with that. Their code may.
   */
  readonly isSpawnable?: boolean
  /**
   * How much of its code runs at once, over all nodes; a task that waits in `ctx` does not count. More wait for their turn, in the
   * order of their acceptance. With several nodes it may be passed for a moment. `limits.executingTasksPerAgent` unless given.
   */
  readonly concurrency?: number
  /** False if it must not be called a second time: a crash then fails the task as `orphaned`. */
  readonly isResumable?: boolean
}

/** The agents of a runtime by the names they are asked for. */
export type Agents = Readonly<Record<string, Agent | AgentFunction>>

export interface ReceiveOptions {
  readonly timeoutMs?: number
  /** `messages` leaves the ends of children to `wait`; `all` (the default) reads both, oldest first. */
  readonly only?: Readable
}

export interface StepOptions {
  /** What the step works from. Kept as a digest: if it is another on replay, the task fails as `replay_mismatch`. */
  readonly input?: unknown
}

export interface ToolOptions {
  /**
   * The key of the call instead of the tool's name. Calls of one key are then found by the order in which they are made, and not
   * by their input: for code that makes them in the same order in every attempt, also side by side.
   */
  readonly key?: string
}

export type ShownPart = Extract<Part, { type: 'file' | 'tool' }>

/** What a task asks people. */
export interface QuestionOptions {
  readonly text: string
  /** The answer is one of these, if they are given. */
  readonly options?: readonly string[]
  /** How long the question waits for an answer; for ever unless given. */
  readonly timeoutMs?: number
  /** Answers when the time is over. Without it the question is closed then, and `ask` rejects as `unanswered`. */
  readonly default?: unknown
  /** Stands for the question on replay, whatever its text has become. Without it what is asked tells questions apart. */
  readonly key?: string
}

/** What came back to a question: one of its options, if it has some. */
export interface QuestionAnswer<Answer = unknown> {
  readonly answer: Answer
  /** The principal that answered, or `timeout` for the default. */
  readonly by: string
}

/** Name and payload of one of the custom events that an agent says it emits. */
type Emitted<Custom> = { [Name in keyof Custom & string]: [name: Name, payload?: Custom[Name]] }[keyof Custom & string]

/**
 * What an agent works with. Everything it does to the world through it is a step, and survives a crash. `Custom` has the
 * payloads of its custom events by name; a client that knows the type of the agents gets them by it.
 */
export interface AgentContext<Custom extends object = Readonly<Record<string, unknown>>> {
  /** Fires when the task is cancelled, times out, or is handed over to another node. */
  readonly signal: AbortSignal
  readonly taskId: TaskId
  readonly thread: ThreadId
  /** Whose the thread is. */
  readonly principal: Principal
  /** The name its agent is registered under; none for a function that lives in this process only. */
  readonly agent?: string
  /** What the task was started with, which tells what its input is: for a `wake`, the results that nobody took. */
  readonly asked: Asked
  /** 1 at first, one more after each crash or hand-over. */
  readonly attempt: number
  /** The trace that asked for the task, if one did; what it spawns has it as well. */
  readonly traceparent?: string
  readonly log: Logger
  /** The owner inbox of this process, where one was given. */
  readonly owner?: { send(eventType: string, payload?: unknown): boolean } | undefined

  /** A custom event. All emits return a promise that resolves when there is room for more; they never block. */
  emit(...event: Emitted<Custom>): Promise<void>
  say(text: string): Promise<void>
  think(text: string): Promise<void>
  /** The answer of the task; the last one counts, and is the result if the agent returns none. */
  answer(output: unknown): Promise<void>
  /** From 0 to 1. */
  progress(value: number, note?: string): Promise<void>
  usage(usage: Usage): Promise<void>
  /**
   * A part of the message that was made elsewhere: a file, or a tool that somebody else executed; without output and error
   * that is its call, with one of them its result.
   */
  show(part: ShownPart): Promise<void>

  /** A piece of work whose result is recorded: once recorded it is never executed again. */
  step<Value>(key: string, fn: () => Value | Promise<Value>, options?: StepOptions): Promise<Value>
  /** A tool call, as a step: shown as `tool.call` and `tool.result`, and known to what is spawned inside. */
  tool<Output>(
    name: string,
    input: unknown,
    fn: (call: { id: string }) => Output | Promise<Output>,
    options?: ToolOptions,
  ): Promise<Output>
  sleep(ms: number): Promise<void>
  spawn(options: SpawnOptions): Promise<Task>
  /** Waits until a task of the same principal has ended, however it ends. */
  wait(task: string): Promise<Result>
  /** Sends a message to a task of the same thread, once, or says why not. */
  send(task: string, message: MessageToSend): Promise<SendAnswer>
  /** The next thing in the task's inbox, or undefined after `timeoutMs`. */
  receive(options?: ReceiveOptions): Promise<InboxItem | undefined>
  /** Asks people a question, once, and waits for the answer, over restarts too. While it waits `timeoutMs` does not run. */
  ask<const Options extends readonly string[]>(
    question: QuestionOptions & { readonly options: Options },
  ): Promise<QuestionAnswer<Options[number]>>
  ask(question: QuestionOptions): Promise<QuestionAnswer>
  /** The conversation as it was when the task started, in every attempt. */
  messages(): Promise<Message[]>
  /** What was said to and by the ended tasks that this one continues (`metadata.continues`), oldest first. */
  history(): Promise<Message[]>
}

/** At most one of these says what to work on. */
export interface Ask {
  readonly prompt?: string
  readonly parts?: readonly Part[]
  readonly input?: unknown
}

/** A background task to spawn: a registered agent, or a function that lives in this process only. */
export interface SpawnOptions<Name extends string = string> extends Ask {
  /** May be left out inside a task, which spawns into its own thread. */
  readonly thread?: string
  readonly agent?: Name
  readonly run?: AgentFunction
  /** `agent` unless given. Tasks of other types have no inbox. */
  readonly type?: string
  /** Unique among the thread's live tasks. */
  readonly name?: string
  readonly description?: string
  readonly parent?: { readonly task?: string; readonly run?: string; readonly call?: string; readonly agent?: string }
  /** It outlives its parent, and no cancel of the parent's tree reaches it. */
  readonly detached?: boolean
  /** Gets what this task sends to its owner, its custom emits and its end, as long as this process lives. */
  readonly inbox?: Inbox
  readonly timeoutMs?: number
  readonly metadata?: Readonly<Record<string, unknown>>
  readonly idempotencyKey?: string
  /** The trace that asks, as the header of W3C Trace Context writes it. A child has its parent's unless given. */
  readonly traceparent?: string
}

/** A run: a prompt to a thread's agent, queued behind the thread's other runs. */
export interface RunOptions<Name extends string = string> extends Ask {
  readonly thread: string
  readonly agent: Name
  readonly description?: string
  readonly onBusy?: OnBusy
  readonly onResult?: OnResult
  readonly timeoutMs?: number
  readonly metadata?: Readonly<Record<string, unknown>>
  readonly idempotencyKey?: string
  /** The trace that asks, as the header of W3C Trace Context writes it. */
  readonly traceparent?: string
}
