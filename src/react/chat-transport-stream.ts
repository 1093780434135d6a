import {
  type AttachItem,
  type Client,
  createThreadView,
  HoldfastError,
  isTerminal,
  type Message,
  reduceView,
  type Task,
  type ThreadEvent,
  type ThreadView,
} from '../client/index.ts'
import { endChunks, PartWriter } from './chat-transport-chunks.ts'
import { answerId } from './chat-transport-messages.ts'
import type { ChatChunk } from './chat-transport-shapes.ts'

/** The part of a client that a stream needs. */
export type LogClient = Pick<Client, 'thread'>

export interface Following {
  readonly task: Task
  /** Whether all that the task has put out comes after its last number. If not, a snapshot says what came before. */
  readonly isFresh: boolean
  readonly signal: AbortSignal
}

/** A message that a run was given, and a place in the log before anything became of it. */
export interface SteeredMessage {
  readonly message: string
  readonly after: number
}

/**
 * One run as a chat reads it, from its beginning to its end. It follows the run over as many connections as it takes. When the
 * signal fires it ends; the run does not notice.
 */
export async function* runChunks(client: LogClient, { task, isFresh, signal }: Following): AsyncGenerator<ChatChunk> {
  const { id, thread, seq } = task
  yield { type: 'start', messageId: answerId(id), messageMetadata: { task: id } }
  yield { type: 'start-step' }
  const writer = new PartWriter()
  const log = client.thread(thread)
  let view = reduceView(createThreadView(), { type: 'task', task })
  for await (const item of log.attach({ task: id, ...(isFresh && { after: seq }), signal })) {
    view = reduceView(view, item)
    yield* passing(item, id)
    if (!answerIn(view, id) && !isOver(view.tasks.get(id))) yield* writer.write(view.live.get(id) ?? [])
  }
  if (signal.aborted) return
  const ended = view.tasks.get(id)
  if (!isOver(ended)) throw cutOff(id)
  const answer = await wholeAnswer(client, view, ended)
  if (answer) yield* writer.write(answer.parts, true)
  yield* endChunks(ended)
}

/**
 * What becomes of a message that was sent to a run which the page shows already: the run reads it, and nothing is to be shown
 * here; or it ends before, and the message becomes a run of its own.
 */
export async function* steeredChunks(
  client: LogClient,
  { task, signal }: Omit<Following, 'isFresh'>,
  { message, after }: SteeredMessage,
): AsyncGenerator<ChatChunk> {
  const types = ['message.created', 'task.accepted', 'task.completed', 'task.failed', 'task.cancelled']
  const log = client.thread(task.thread).attach({ after, types, signal })
  let isRead = false
  for await (const item of log) {
    if (item.type === 'task.accepted' && item.data.steered === message) {
      yield* runChunks(client, { task: item.data.task, isFresh: true, signal })
      return
    }
    isRead ||= item.type === 'message.created' && item.data.message.id === message
    if (isRead && isEndOf(item, task.id)) break
    // The log was cut off before this place; what became of the message is in the thread.
    if (item.type !== 'snapshot') continue
    if (!item.tasks.some(({ id, status }) => id === task.id && !isTerminal(status))) break
    isRead ||= item.messages.some(({ id }) => id === message)
  }
  yield { type: 'finish' }
}

function isEndOf(item: AttachItem, task: string): boolean {
  return 'seq' in item && item.task === task && /^task\.(completed|failed|cancelled)$/.test(item.type)
}

/** What a run tells beside its message: it is given to `onData` and kept nowhere. */
function* passing(item: AttachItem, task: string): Generator<ChatChunk> {
  if (item.type === 'snapshot') {
    for (const question of item.questions) if (question.task === task) yield data('question', question, question.id)
    return
  }
  if (item.type !== 'notice' && item.task === task) yield* passingEvent(item)
}

function* passingEvent(event: ThreadEvent): Generator<ChatChunk> {
  switch (event.type) {
    case 'custom':
      return yield data(event.data.name, event.data.payload)
    case 'progress':
    case 'usage':
      return yield data(event.type, event.data)
    case 'question.asked':
      return yield data('question', event.data.question, event.data.question.id)
    case 'question.answered':
    case 'question.closed':
      return yield data('question', event.data, event.data.id)
    default:
  }
}

function data(name: string, value: unknown, id?: string): ChatChunk {
  return { type: `data-${name}`, ...(id !== undefined && { id }), data: value, transient: true }
}

function isOver(task: Task | undefined): task is Task {
  return task !== undefined && isTerminal(task.status)
}

function answerIn(view: ThreadView, task: string): Message | undefined {
  return view.messages.findLast(({ id }) => id === answerId(task))
}

/** The answer as the thread keeps it. One that is too large for an event is read. */
async function wholeAnswer(client: LogClient, view: ThreadView, task: Task): Promise<Message | undefined> {
  const answer: Partial<Message> | undefined = answerIn(view, task.id)
  if (!answer || answer.parts) return answer as Message | undefined
  const { messages } = await client.thread(task.thread).messages({ after: (answer.seq ?? 1) - 1, limit: 1 })
  return messages[0]
}

function cutOff(task: string): HoldfastError {
  return new HoldfastError('unreachable', `The log of ${task} ended before the task did. Reload to follow it again`)
}
