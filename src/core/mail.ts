import type { TaskRequest } from './accept.ts'
import type { Decision, Surroundings } from './decision.ts'
import { HoldfastError } from './errors.ts'
import { fitsIn } from './fits-in.ts'
import type { JsonText, TaskId } from './id.ts'
import { endItem, type InboxItem, messageItem } from './inbox-item.ts'
import type { LiveThread } from './live-thread.ts'
import type { Part } from './message.ts'
import type { StepRecord } from './step.ts'
import { isRun, type TaskRecord } from './task.ts'
import type { Fence, Mail } from './unit.ts'
import { UnitDraft } from './unit-draft.ts'
import { messageBytesOf, messageOverheadBytes } from './unread.ts'

/** A message on its way to a task, and who sends it. */
export type SentMessage = Pick<Mail, 'id' | 'from' | 'content'> & { readonly by: string }

/** Puts a message into a live task's inbox. Sent by the code of a task, it is recorded as a step of it in the same unit. */
export function send(
  live: LiveThread,
  around: Surroundings,
  task: TaskRecord,
  message: SentMessage,
  sender?: Fence & { readonly step: StepRecord },
): Decision<string> {
  if (!task.inbox) throw new HoldfastError('no_inbox', `${task.id} is of type ${task.type}, which has no inbox`)
  checkRoom(live, around, message)
  const draft = new UnitDraft(live, around, 'send', sender && { task: sender.task, epoch: sender.epoch })
  deliver(draft, task, { ...message, task: task.id, place: live.rev })
  if (sender) draft.step(sender.step)
  return { unit: draft.build(), value: message.id }
}

/** What nobody reads is at hand in every decision about the thread, as what its tasks were given is. */
function checkRoom(live: LiveThread, { limits }: Surroundings, message: SentMessage): void {
  const max = limits.liveInputBytesPerThread
  const [unread, own] = [live.messageBytes, messageBytesOf(message)]
  if (unread === 0 || unread + own <= max) return
  throw new HoldfastError(
    'limit_reached',
    `Messages that the tasks of this thread have not read take ${unread} bytes, and this one ${own} more, each with ` +
      `${messageOverheadBytes} for what stands around it, which would pass ${max} (liveInputBytesPerThread); ` +
      'wait until they are read, or pass a link to what is large',
    { facts: { limit: 'liveInputBytesPerThread', max, retryAfterMs: 1000 } },
  )
}

/** Puts a prompt into a live run's inbox, with the request it becomes a run of if the run never reads it. */
export function steerMail(
  draft: UnitDraft,
  target: TaskRecord,
  request: TaskRequest,
  from: { readonly messageId: string; readonly by: string },
): void {
  const content = request.input ?? 'null'
  const steer = JSON.stringify(request)
  deliver(draft, target, { id: from.messageId, by: from.by, task: target.id, place: draft.live.rev, content, steer })
}

function deliver(draft: UnitDraft, task: TaskRecord, mail: Mail): void {
  draft.addMail(mail)
  const { id, from, content, steer } = mail
  // What others write to a task is not written by its execution, so it carries no epoch.
  const data = {
    id,
    ...(from !== undefined && { from }),
    content: JSON.parse(content) as unknown,
    ...(steer !== undefined && { steer: true as const }),
  }
  checkSize(data, draft.around.limits.eventBytes)
  draft.event('inbox.accepted', data, { ...task, epoch: 0 })
}

// They are read in order, so the first of them tells which those after it are.
const unreadCountMax = 100

/** What a task that ends has not read: messages, but for steering, which becomes runs. */
export function unreadBy(draft: UnitDraft, task: TaskId): Pick<TaskRecord, 'unread'> {
  const isLeft = ({ id, steer, ended }: Mail) => steer === undefined && ended === undefined && !draft.isRead(id)
  const unread = [...draft.live.mailOf(task)].filter(isLeft)
  return unread.length === 0 ? {} : { unread: unread.slice(0, unreadCountMax).map(({ id }) => id) }
}

/** A message is in the log whole, so it must fit into an event. */
function checkSize(data: object, bytesMax: number): void {
  if (fitsIn(JSON.stringify(data), bytesMax)) return
  throw new HoldfastError(
    'too_large',
    `A message to a task is at most ${bytesMax} bytes with what belongs to it; keep it elsewhere and pass a link`,
  )
}

/** What a task may read: messages, and the ends of its children. */
export type Readable = 'messages' | 'all'

/**
 * Reads the next thing in a task's inbox: consumed, and recorded as the step that read it, in one unit. Steering enters
 * the conversation as it is read. Answers undefined if there is nothing.
 */
export function receive(
  live: LiveThread,
  around: Surroundings,
  reader: Fence,
  readable: Readable,
  step: (value: JsonText) => StepRecord,
): Decision<InboxItem | undefined> {
  const record = live.task(reader.task)
  const mail = nextMail(live, reader.task, readable)
  const ended = readable === 'all' ? endedChild(live, reader.task) : undefined
  if (!record || (!mail && !ended)) return { value: undefined }
  const draft = new UnitDraft(live, around, 'step', reader)
  const item = mail && !isBefore(ended, mail) ? readMail(draft, record, mail) : takeEnd(draft, ended)
  if (item) draft.step(step(JSON.stringify(item)))
  return { unit: draft.build(), value: item }
}

/**
 * Records the end of a child as the step that waited for it. The result is taken, unless somebody collected it
 * before, which keeps it from no one; either way it is not in the inbox any more.
 */
export function takeChild(
  live: LiveThread,
  around: Surroundings,
  reader: Fence,
  child: TaskId,
  step: StepRecord,
): Decision<void> {
  const draft = new UnitDraft(live, around, 'step', reader)
  draft.take(child)
  for (const mail of live.mailOf(reader.task)) if (mail.ended === child) draft.readMail(mail.id)
  draft.step(step)
  return { unit: draft.build(), value: undefined }
}

/**
 * Takes results for good. The verdict tells which of them were there to be taken. An end that a live parent has yet to read
 * stays in its inbox: to collect a result keeps it from nobody who waits for it.
 */
export function collect(live: LiveThread, around: Surroundings, tasks: readonly TaskId[]): Decision<void> {
  const draft = new UnitDraft(live, around, 'collect')
  const wanted = new Set(tasks)
  for (const task of wanted) draft.take(task)
  for (const record of live.ended()) if (wanted.has(record.id)) leaveInInbox(draft, record)
  return { unit: draft.build(), value: undefined }
}

function leaveInInbox(draft: UnitDraft, ended: TaskRecord): void {
  const { id, parent, endPlace: place = draft.live.rev } = ended
  if (parent?.task === undefined || !draft.live.task(parent.task)) return
  draft.addMail({ id: `end:${id}`, task: parent.task, place, content: JSON.stringify(endItem(ended)), ended: id })
}

function nextMail(live: LiveThread, reader: TaskId, readable: Readable): Mail | undefined {
  for (const mail of live.mailOf(reader)) if (readable === 'all' || mail.ended === undefined) return mail
  return undefined
}

function endedChild(live: LiveThread, parent: TaskId): TaskRecord | undefined {
  for (const record of live.ended()) if (record.parent?.task === parent) return record
  return undefined
}

function isBefore(ended: TaskRecord | undefined, mail: Mail): boolean {
  return ended !== undefined && ended.endPlace !== undefined && ended.endPlace < mail.place
}

function readMail(draft: UnitDraft, reader: TaskRecord, mail: Mail): InboxItem {
  draft.readMail(mail.id)
  const content = JSON.parse(mail.content) as unknown
  if (mail.ended !== undefined) return content as InboxItem
  if (mail.steer !== undefined && isRun(reader)) {
    const { asked } = JSON.parse(mail.steer) as TaskRequest
    const parts = asked === 'parts' ? (content as Part[]) : [{ type: 'text', text: String(content) } as const]
    draft.message({ id: mail.id, role: 'user', parts }, reader)
  }
  return messageItem(reader.id, { ...(mail.from !== undefined && { from: mail.from }), content })
}

function takeEnd(draft: UnitDraft, ended: TaskRecord | undefined): InboxItem | undefined {
  if (!ended) return undefined
  draft.take(ended.id)
  return endItem(ended)
}
