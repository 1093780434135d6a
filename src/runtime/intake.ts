import type { TaskRequest } from '../core/accept.ts'
import { type CancelScope, cancel } from '../core/cancel.ts'
import { HoldfastError } from '../core/errors.ts'
import { type Principal, type TaskId, type ThreadKey, taskId, threadId, threadKey } from '../core/id.ts'
import type { TaskOf } from '../core/known-agents.ts'
import type { Limits } from '../core/limits.ts'
import { collect, send } from '../core/mail.ts'
import { type OnBusy, type PromptOptions, prompt } from '../core/prompt.ts'
import { type TaskRecord, toTask } from '../core/task.ts'
import type { Store } from '../stores/store.ts'
import type { RunOptions } from './agent.ts'
import { checkAsked } from './checked-input.ts'
import { encode } from './encode.ts'
import { intent } from './entry.ts'
import { acceptedTask, requestKey, unlessRepeated } from './idempotency.ts'
import { inTime } from './in-time.ts'
import type { MessageToSend, SendAnswer } from './message-to-send.ts'
import type { OpenTasks } from './open-tasks.ts'
import type { Registry } from './registry.ts'
import { checkRequest, runRequest } from './request.ts'
import { endedRefusal, newMessageId, receiver, sendRefusal, sentMessage } from './sending.ts'
import type { Writer } from './writer.ts'

export interface IntakeParts {
  readonly store: Store
  readonly writer: Writer
  readonly limits: Limits
  readonly agents: Registry
  readonly openTasks: OpenTasks
  /** Throws if new work is not accepted now. */
  checkOpen(): void
}

// Shown beside the task, and repeated in the error of each task that it ends.
const reasonBytesMax = 4096

const waysWhenBusy: readonly OnBusy[] = ['queue', 'steer', 'interrupt', 'reject']

/** A run as it was accepted. */
export type AcceptedRun<Result = unknown> = TaskOf<Result> & {
  /** The id of the message that the prompt became, if it steered this run. */
  readonly steered?: string
  /** What was cancelled for it. */
  readonly interrupted?: readonly TaskId[]
  /** The same request with the same key was accepted before; this is its task as it is now. */
  readonly isReplayed?: true
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
    const { store, writer } = this.#parts
    this.#parts.checkOpen()
    const thread = threadKey(principal, threadId(options.thread))
    const request = runRequest(options)
    const onBusy = options.onBusy ?? 'queue'
    if (!waysWhenBusy.includes(onBusy)) throw invalid(`onBusy is one of ${waysWhenBusy.join(', ')}`)
    const key = requestKey(options.idempotencyKey, 'runs', thread, { ...request, onBusy })
    const how = { onBusy, by: principal, messageId: newMessageId(), ...(key && { key }) }
    const done = await unlessRepeated(writer, thread, key, this.#accept(thread, options.agent, request, how))
    if ('refusal' in done) return acceptedTask(store, done, key)
    const { task, ...rest } = done.value
    // What another node executes has reported since it was read, and a copy with a higher number counts as newer. If it cannot be
    // read now, the message is written all the same: who was refused would send it again.
    const steered =
      rest.steered !== undefined && store.isShared ? await store.task(task.id).catch(() => undefined) : undefined
    if (steered) return { ...toTask(steered), ...rest }
    return { ...(await acceptedTask(store, { ...done, value: task }, key)), ...rest }
  }

  async #accept(thread: ThreadKey, agent: string, request: TaskRequest, how: PromptOptions) {
    const { writer, agents, limits, openTasks } = this.#parts
    checkRequest(request, limits)
    if (how.onBusy === 'steer' && request.asked === 'input') {
      throw new HoldfastError('invalid_input', 'Steering needs a prompt or parts: a run reads it as a message')
    }
    await checkAsked(agents, agent, request)
    // A schema may take its time, in which the runtime may have begun to close.
    this.#parts.checkOpen()
    const accepting = writer.change(
      intent(thread, 'accept', (live, around) => openTasks.admit(prompt(live, around, request, how))),
    )
    return await inTime(accepting)
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

  async send(record: TaskRecord, by: string, given: MessageToSend): Promise<SendAnswer> {
    const refusal = sendRefusal(record)
    if (refusal) return refusal
    const { store, writer, limits } = this.#parts
    const message = sentMessage(by, given, limits)
    const done = await writer.change(
      intent<string | undefined>(record.key, 'send', (live, around) => {
        const target = receiver(live, record.id)
        return target ? send(live, around, target, message) : { value: undefined }
      }),
    )
    if ('value' in done && done.value !== undefined) return { isSent: true, id: done.value }
    return endedRefusal(store, record.id)
  }

  async collect(thread: ThreadKey, tasks: readonly string[]): Promise<readonly TaskId[]> {
    const ids = tasks.filter((id) => typeof id === 'string').map(taskId)
    if (ids.length === 0) return []
    const done = await inTime(
      this.#parts.writer.change(intent(thread, 'collect', (live, around) => collect(live, around, ids))),
    )
    return 'refusal' in done ? [] : (done.verdict?.taken ?? [])
  }
}

function invalid(message: string): HoldfastError {
  return new HoldfastError('invalid_request', message)
}
