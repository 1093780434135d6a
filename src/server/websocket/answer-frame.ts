import { assertNever, notFound } from '../../core/errors.ts'
import type { CancelFrame, ClientFrame, RunFrame, SendFrame, ServerFrame } from '../../protocol/frames.ts'
import type { Runtime } from '../../runtime/runtime.ts'
import { sentId } from '../routes/tasks.ts'
import type { Attachments } from './attachments.ts'
import { idOf } from './frame-id.ts'

export interface FrameTarget {
  /** Of the principal that the connection is of. */
  readonly runtime: Runtime
  readonly attachments: Attachments
  /** Of the request that opened the connection; its runs belong to that trace. */
  readonly traceparent?: string
}

/** Does what a frame asks for. Undefined if what it did has answered by itself. */
export async function answerFrame(frame: ClientFrame, target: FrameTarget): Promise<ServerFrame | undefined> {
  switch (frame.type) {
    case 'run':
      return run(frame, target)
    case 'attach':
      await target.attachments.attach(frame)
      return undefined
    case 'detach':
      target.attachments.detach(frame)
      return { type: 'detached', ...idOf(frame) }
    case 'watch':
      await target.attachments.watch(frame)
      return undefined
    case 'unwatch':
      target.attachments.unwatch()
      return { type: 'unwatched', ...idOf(frame) }
    case 'cancel':
      return cancel(frame, target)
    case 'send':
      return send(frame, target)
    case 'answer':
      return { type: 'answered', ...idOf(frame), question: await target.runtime.answer(frame.question, frame.answer) }
    case 'ping':
      return { type: 'pong', ...idOf(frame) }
    default:
      return assertNever(frame)
  }
}

async function run(frame: RunFrame, { runtime, traceparent }: FrameTarget): Promise<ServerFrame> {
  const { type: _type, id: _id, ...options } = frame
  const accepted = await runtime.run({ ...options, ...(traceparent !== undefined && { traceparent }) })
  const { isReplayed, ...task } = accepted
  return { type: 'accepted', ...idOf(frame), task, ...(isReplayed && { replayed: true }) }
}

async function cancel(frame: CancelFrame, { runtime }: FrameTarget): Promise<ServerFrame> {
  const { thread, task, scope, reason } = frame
  const why = reason === undefined ? {} : { reason }
  const cancelled =
    task === undefined
      ? await runtime.cancelThread(thread, { ...why, ...(scope && { scope }) })
      : await runtime.cancelTask(task, { ...why, thread })
  if (!cancelled) throw notFound(task ?? thread)
  return { type: 'cancelled', ...idOf(frame), cancelled }
}

async function send(frame: SendFrame, { runtime }: FrameTarget): Promise<ServerFrame> {
  const { thread, task, content, from } = frame
  const answer = await runtime.send(task, { content, ...(from !== undefined && { from }) }, { thread })
  return { type: 'sent', ...idOf(frame), messageId: sentId(answer, task) }
}
