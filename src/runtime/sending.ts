import { randomUUID } from 'node:crypto'
import { HoldfastError, notFound } from '../core/errors.ts'
import { principalOf, type TaskId, type ThreadKey, taskId } from '../core/id.ts'
import type { Limits } from '../core/limits.ts'
import type { LiveThread } from '../core/live-thread.ts'
import { type SentMessage, send } from '../core/mail.ts'
import { certainEnd, type TaskRecord } from '../core/task.ts'
import type { Store } from '../stores/store.ts'
import { digest } from './digest.ts'
import { encode } from './encode.ts'
import { executing } from './entry.ts'
import { closedError, type Execution } from './execution.ts'
import type { MessageToSend, SendAnswer } from './message-to-send.ts'
import { named, type StepTaker } from './step-taker.ts'
import type { OpenStep } from './steps.ts'
import type { Writer } from './writer.ts'

export function newMessageId(): string {
  return `msg_${randomUUID()}`
}

/** A message ready to be sent. Throws what the sender must mend. */
export function sentMessage(by: string, { content, from }: MessageToSend, limits: Limits): SentMessage {
  if (from !== undefined && typeof from !== 'string') {
    throw new HoldfastError('invalid_request', 'Who it is from is a string')
  }
  return {
    id: newMessageId(),
    by,
    ...(from !== undefined && { from }),
    content: encode(content ?? null, { what: 'The message', bytesMax: limits.eventBytes }),
  }
}

/** Why a task can be sent nothing, if so. */
export function sendRefusal(record: TaskRecord): SendAnswer | undefined {
  // One that is being cancelled has been told to leave whatever it does.
  const taskStatus = certainEnd(record)
  if (taskStatus !== undefined) return { isSent: false, reason: 'task_terminated', taskStatus }
  return record.inbox ? undefined : { isSent: false, reason: 'no_inbox' }
}

/** The live task that a message can still be sent to. */
export function receiver(live: LiveThread, task: TaskId): TaskRecord | undefined {
  const record = live.task(task)
  return record?.cancelRequestedAt === undefined ? record : undefined
}

/** The refusal of a message that lost the race with the end of its task, or with a cancel of it. */
export async function endedRefusal(store: Store, task: TaskId): Promise<SendAnswer> {
  const ended = await store.task(task)
  if (!ended) throw notFound(task)
  return sendRefusal(ended) ?? { isSent: false, reason: 'task_terminated', taskStatus: 'failed' }
}

export interface SendParts {
  readonly execution: Execution
  readonly taker: StepTaker
  readonly writer: Writer
  readonly store: Store
  readonly limits: Limits
}

/** Sends from inside a task, as one of its steps: message and record are one unit, so a replay sends nothing again. */
export async function sendInside(parts: SendParts, task: string, given: MessageToSend): Promise<SendAnswer> {
  const { execution, taker, store, limits } = parts
  if (typeof task !== 'string') throw new HoldfastError('invalid_request', 'Whom to send to is the id of a task')
  const message = sentMessage(principalOf(execution.thread), given, limits)
  const { id: _new, ...said } = message
  const name = { ...named('send', task), input: digest(JSON.stringify(said)) }
  return taker.takeRaw(name, async (step) => {
    const record = await taker.read(() => store.task(taskId(task)))
    const refusal = addressRefusal(record, execution.thread)
    const sent = refusal ?? (await deliver(parts, step, taskId(task), message))
    if (sent?.isSent) return sent
    const answer = sent ?? (await taker.read(() => endedRefusal(store, taskId(task))))
    await taker.record(step, JSON.stringify(answer))
    return answer
  })
}

/** A task of another thread is not the sender's to write to; one of another principal is as one that does not exist. */
function addressRefusal(record: TaskRecord | undefined, own: ThreadKey): SendAnswer | undefined {
  if (!record || principalOf(record.key) !== principalOf(own)) return { isSent: false, reason: 'not_found' }
  return record.key === own ? sendRefusal(record) : { isSent: false, reason: 'not_owner' }
}

/** Undefined if the task had ended, or was being cancelled, by the time of the commit; then nothing is written. */
async function deliver(
  { execution, taker, writer }: SendParts,
  step: OpenStep,
  to: TaskId,
  message: SentMessage,
): Promise<SendAnswer | undefined> {
  if (execution.isClosed) throw closedError(execution)
  const { task, epoch } = execution
  const answer: SendAnswer = { isSent: true, id: message.id }
  const record = taker.recordOf(step, JSON.stringify(answer))
  const done = await writer.change(
    executing<string | undefined>(execution, 'send', (live, around) => {
      const target = receiver(live, to)
      return target ? send(live, around, target, message, { task, epoch, step: record }) : { value: undefined }
    }),
  )
  if ('refusal' in done) throw closedError(execution)
  return done.value === undefined ? undefined : answer
}
