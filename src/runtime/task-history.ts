import { finishOf } from '../core/end.ts'
import { isHoldfastError } from '../core/errors.ts'
import { type EventData, type EventType, partTypes, type StoredEvent } from '../core/event.ts'
import { type TaskId, type ThreadKey, taskId, threadOf } from '../core/id.ts'
import type { Finish, Message, Part } from '../core/message.ts'
import { assistantParts, hasOutput, PartsFold } from '../core/parts.ts'
import { askedParts } from '../core/start.ts'
import { isTerminal } from '../core/status.ts'
import { isRun, type TaskRecord } from '../core/task.ts'
import type { Store } from '../stores/store.ts'
import { standingPages } from './task-events.ts'

const toldTypes: readonly EventType[] = [...partTypes, 'inbox.accepted']

// Each of them is read; a conversation with one sub-agent that was taken up this often has long lost its beginning.
const continuedMax = 32

/**
 * What was said to and by the tasks that this one continues, oldest first. They have ended, so it is the same in every attempt;
 * but for what retention has removed, of which what was asked and what came of it is left.
 */
export async function continuedHistory(store: Store, record: TaskRecord): Promise<Message[]> {
  const history: Message[][] = []
  const seen = new Set<TaskId>([record.id])
  let next = continuedBy(record)
  while (next !== undefined && !seen.has(next) && seen.size <= continuedMax) {
    seen.add(next)
    const earlier = await store.task(next)
    if (!isContinuable(earlier, record.key)) break
    history.unshift(await saidIn(store, earlier))
    next = continuedBy(earlier)
  }
  return history.flat()
}

/** Metadata is anybody's to write, so what it names is looked at. */
function isContinuable(record: TaskRecord | undefined, thread: ThreadKey): record is TaskRecord {
  return record !== undefined && record.key === thread && isTerminal(record.status) && !isRun(record)
}

function continuedBy({ metadata }: TaskRecord): TaskId | undefined {
  const value: unknown = metadata === undefined ? undefined : JSON.parse(metadata)
  const continues =
    typeof value === 'object' && value !== null ? (value as { continues?: unknown }).continues : undefined
  return typeof continues === 'string' ? taskId(continues) : undefined
}

async function saidIn(store: Store, record: TaskRecord): Promise<Message[]> {
  try {
    return await told(record, standingPages(store, record, { upTo: record.seq, types: toldTypes }))
  } catch (error) {
    if (isHoldfastError(error, 'offset_gone')) return told(record, [])
    throw error
  }
}

async function told(
  record: TaskRecord,
  pages: AsyncIterable<readonly StoredEvent[]> | Iterable<readonly StoredEvent[]>,
): Promise<Message[]> {
  const telling = new Telling(record)
  if (record.asked !== 'nothing')
    telling.add('user', askedParts(record), { seq: record.firstSeq, at: record.createdAt })
  for await (const page of pages) for (const event of page) telling.event(event)
  return telling.ended()
}

/** Makes messages of a task's events: what it put out, broken where a message to it arrived and no tool was at work. */
class Telling {
  readonly #record: TaskRecord
  readonly #messages: Message[] = []
  #fold = new PartsFold()
  #hasSpoken = false
  #arrived: StoredEvent[] = []

  constructor(record: TaskRecord) {
    this.#record = record
  }

  event(event: StoredEvent): void {
    if (event.type === 'inbox.accepted') this.#arrived.push(event)
    else this.#fold.add(event)
    if (this.#arrived.length === 0 || this.#fold.openCalls.length > 0) return
    this.#speak(event)
    for (const message of this.#arrived.splice(0)) {
      const { content } = JSON.parse(message.data) as EventData['inbox.accepted']
      this.add('user', contentParts(content), message)
    }
  }

  ended(): Message[] {
    const { seq, completedAt = 0, result } = this.#record
    const hasResult = !this.#hasSpoken && !hasOutput(this.#fold) && result !== undefined
    if (hasResult) this.#fold.add({ type: 'answer', data: `{"output":${result}}` })
    this.#speak({ seq, at: completedAt }, finishOf(this.#record))
    return this.#messages
  }

  add(
    role: 'user' | 'assistant',
    parts: readonly Part[],
    { seq, at }: Pick<Message, 'seq' | 'at'>,
    finish?: Finish,
  ): void {
    const { id: task, key } = this.#record
    const id = `${task}.${role}.${seq}`
    this.#messages.push({
      id,
      thread: threadOf(key),
      seq,
      role,
      parts: [...parts],
      ...(finish && { finish }),
      task,
      at,
    })
  }

  #speak(at: Pick<Message, 'seq' | 'at'>, finish?: Finish): void {
    const parts = assistantParts(this.#fold)
    this.#fold = new PartsFold()
    if (parts.length === 0) return
    this.#hasSpoken = true
    this.add('assistant', parts, at, finish)
  }
}

function contentParts(content: unknown): Part[] {
  if (typeof content === 'string') return [{ type: 'text', text: content }]
  return [{ type: 'data', name: 'message', value: content }]
}
