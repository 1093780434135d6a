import { type CancelScope, cancel } from '../core/cancel.ts'
import { HoldfastError, notFound } from '../core/errors.ts'
import { type Principal, type TaskId, type ThreadKey, taskId, threadId, threadKey } from '../core/id.ts'
import type { Limits } from '../core/limits.ts'
import { collect, type SentMessage, send } from '../core/mail.ts'
import { type OnBusy, prompt } from '../core/prompt.ts'
import { isTerminal, type TerminalStatus } from '../core/status.ts'
import type { Task, TaskRecord } from '../core/task.ts'
import type { Store } from '../stores/store.ts'
import type { RunOptions } from './agent.ts'
import { encode } from './encode.ts'
import { intent } from './entry.ts'
import { acceptedTask, requestKey, unlessRepeated } from './idempotency.ts'
import type { OpenTasks } from './open-tasks.ts'
import { checkRegistered, type Registry } from './registry.ts'
import { runRequest } from './request.ts'
import type { Writer } from './writer.ts'

export interface IntakeParts {
  readonly store: Store
  readonly writer: Writer
  readonly limits: Limits
  readonly agents: Registry
  readonly openTasks: OpenTasks
  newMessageId(): string
  /** Throws if new work is not accepted now. */
  checkOpen(): void
}

// Shown beside the task, and repeated in the error of each task that it ends.
const reasonBytesMax = 4096

const waysWhenBusy: readonly OnBusy[] = ['queue', 'steer', 'interrupt', 'reject']

/** A run as it was accepted. */
export type AcceptedRun = Task & {
  /** The id of the message that the prompt became, if it steered this run. */
  readonly steered?: string
  /** What was cancelled for it. */
  readonly interrupted?: readonly TaskId[]
  /** The same request with the same key was accepted before; this is its task as it is now. */
  readonly isReplayed?: true
}

export type SendAnswer =
  | { readonly isSent: true; readonly id: string }
  | {
      readonly isSent: false
      readonly reason: 'not_found' | 'not_owner' | 'task_terminated' | 'no_inbox'
      readonly taskStatus?: TerminalStatus
    }

/**
 * What may be asked of a thread from outside, but for spawns: each is checked, decided and committed before it is
 * answered.
 */
export class Intake {
  readonly #parts: IntakeParts

  constructor(parts: IntakeParts) {
    this.#parts = parts
  }

  async run(principal: Principal, options: RunOptions): Promise<AcceptedRun> {
    const { store, writer, agents, limits, openTasks } = this.#parts
    this.#parts.checkOpen()
    const thread = threadKey(principal, threadId(options.thread))
    const request = runRequest(options, limits)
    checkRegistered(agents, options.agent)
    const onBusy = options.onBusy ?? 'queue'
    if (!waysWhenBusy.includes(onBusy)) throw invalid(`onBusy is one of ${waysWhenBusy.join(', ')}`)
    const key = requestKey(options.idempotencyKey, 'runs', thread, { ...request, onBusy })
    const how = { onBusy, by: principal, messageId: this.#parts.newMessageId(), ...(key && { key }) }
    const accepting = writer.change(
      intent(thread, 'accept', (live, around) => openTasks.admit(prompt(live, around, request, how))),
    )
    const done = await unlessRepeated(writer, thread, key, accepting)
    if ('refusal' in done) return acceptedTask(store, done, key)
    const { task, ...rest } = done.value
    return { ...(await acceptedTask(store, { ...done, value: task }, key)), ...rest }
  }

  /** Answers with every task in reach that had not ended at the commit. */
  async cancel(thread: ThreadKey, scope: CancelScope, by: string, reason?: string): Promise<TaskId[]> {
    if (reason !== undefined && typeof reason !== 'string') throw invalid('A reason is a string')
    if (reason !== undefined) encode(reason, { what: 'The reason', bytesMax: reasonBytesMax })
    const why = { by, ...(reason !== undefined && { reason }) }
    const done = await this.#parts.writer.change(
      intent(thread, 'cancel', (live, around) => cancel(live, around, scope, why)),
    )
    return 'refusal' in done ? [] : done.value
  }

  async send(record: TaskRecord, by: string, given: { content: unknown; from?: string }): Promise<SendAnswer> {
    if (isTerminal(record.status)) return terminated(record.status)
    if (!record.inbox) return { isSent: false, reason: 'no_inbox' }
    const { store, writer, limits } = this.#parts
    if (given.from !== undefined && typeof given.from !== 'string') throw invalid('Who it is from is a string')
    const message: SentMessage = {
      id: this.#parts.newMessageId(),
      by,
      ...(given.from !== undefined && { from: given.from }),
      content: encode(given.content ?? null, { what: 'The message', bytesMax: limits.eventBytes }),
    }
    const done = await writer.change(
      intent<string | undefined>(record.key, 'send', (live, around) => {
        const target = live.task(record.id)
        return target ? send(live, around, target, message) : { value: undefined }
      }),
    )
    if ('value' in done && done.value !== undefined) return { isSent: true, id: done.value }
    const ended = await store.task(record.id)
    if (!ended) throw notFound(record.id)
    return terminated(isTerminal(ended.status) ? ended.status : 'failed')
  }

  async collect(thread: ThreadKey, tasks: readonly string[]): Promise<readonly TaskId[]> {
    const ids = tasks.filter((id) => typeof id === 'string').map(taskId)
    if (ids.length === 0) return []
    const done = await this.#parts.writer.change(
      intent(thread, 'collect', (live, around) => collect(live, around, ids)),
    )
    return 'refusal' in done ? [] : (done.verdict?.taken ?? [])
  }
}

function invalid(message: string): HoldfastError {
  return new HoldfastError('invalid_request', message)
}

function terminated(taskStatus: TerminalStatus): SendAnswer {
  return { isSent: false, reason: 'task_terminated', taskStatus }
}
