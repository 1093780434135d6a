import {
  type Client,
  type ClientOptions,
  createClient,
  HoldfastError,
  isHoldfastError,
  isTerminal,
  type OnBusy,
  type Task,
  type ThreadSnapshot,
} from '../client/index.ts'
import { askedBy, liveRuns } from './chat-transport-messages.ts'
import type { ChatChunk, ChatMessage, ChatReconnectRequest, ChatSendRequest } from './chat-transport-shapes.ts'
import { type Following, runChunks, type SteeredMessage, steeredChunks } from './chat-transport-stream.ts'

/** Over which client, or to which server, and who answers. */
export type ChatTransportOptions = ({ readonly client: Client } | ClientOptions) & {
  /** Who answers. */
  readonly agent: string
  /** The thread of a chat; the id of the chat unless given. */
  readonly thread?: (chatId: string) => string
  /** What a message does while a run is live; `queue` unless given. A single message says otherwise in its `body`. */
  readonly onBusy?: OnBusy
}

type Asked = Pick<ChatSendRequest, 'chatId' | 'body' | 'metadata'> & { readonly message: ChatMessage }

/** A run that was accepted for a message, or that the message was given to. */
type Work = Omit<Following, 'signal'> & { readonly steered?: SteeredMessage }

/** What one transport does for all of its chats. */
export class ChatRuns {
  readonly #options: ChatTransportOptions
  #client: Client | undefined
  /** Those that are being accepted, by chat: a stop that comes before the answer is for them too. */
  readonly #accepting = new Map<string, Set<Promise<unknown>>>()
  /** The runs that somebody reads, and how many do. */
  readonly #readers = new Map<string, number>()

  constructor(options: ChatTransportOptions) {
    this.#options = options
  }

  async send(request: ChatSendRequest): Promise<ReadableStream<ChatChunk>> {
    // The run is accepted even if nobody waits for the answer any more: the message was sent.
    const work = await unlessAborted(this.#tracked(request), request.abortSignal)
    const { task, steered } = work
    const isShown = this.#readers.has(task.id) && !isTerminal(task.status)
    return streamOf(request.abortSignal, (signal) =>
      steered !== undefined && isShown
        ? steeredChunks(this.#connected(), { task, signal }, steered)
        : this.#chunks({ ...work, signal }),
    )
  }

  async reconnect({ chatId, abortSignal }: ChatReconnectRequest): Promise<ReadableStream<ChatChunk> | null> {
    const live = liveRuns(await unlessAborted(this.#snapshot(chatId), abortSignal))
    return live.length === 0 ? null : streamOf(abortSignal, (signal) => this.#each(live, signal))
  }

  async stop(chatId: string): Promise<void> {
    await Promise.allSettled([...(this.#accepting.get(chatId) ?? [])])
    await this.#connected().cancelThread(this.#thread(chatId))
  }

  close(): void {
    if (!('client' in this.#options)) this.#client?.close()
    this.#client = undefined
  }

  async *#each(tasks: readonly Task[], signal: AbortSignal): AsyncGenerator<ChatChunk> {
    const last = tasks.at(-1)
    for (const task of tasks) {
      if (signal.aborted) return
      for await (const chunk of this.#chunks({ task, isFresh: false, signal })) {
        // A chat takes nothing after an error; that this run failed is in the metadata of its message.
        if (chunk.type !== 'error' || task === last) yield chunk
      }
    }
  }

  async *#chunks(following: Following): AsyncGenerator<ChatChunk> {
    const { id } = following.task
    this.#readers.set(id, (this.#readers.get(id) ?? 0) + 1)
    try {
      yield* runChunks(this.#connected(), following)
    } finally {
      const others = (this.#readers.get(id) ?? 1) - 1
      if (others > 0) this.#readers.set(id, others)
      else this.#readers.delete(id)
    }
  }

  async #tracked(request: ChatSendRequest): Promise<Work> {
    const accepting = this.#accept(request)
    const ofChat = this.#accepting.get(request.chatId) ?? new Set()
    this.#accepting.set(request.chatId, ofChat.add(accepting))
    try {
      return await accepting
    } finally {
      ofChat.delete(accepting)
      if (ofChat.size === 0) this.#accepting.delete(request.chatId)
    }
  }

  async #accept({ trigger, chatId, messageId, messages, body, metadata }: ChatSendRequest): Promise<Work> {
    const message = messages.at(-1)
    if (message?.role !== 'user') throw refusedAnswer()
    const asked = { chatId, message, body, metadata }
    if (trigger === 'regenerate-message') return this.#askAgain(asked)
    // With an id it was in the chat before: it is sent again, or has been changed.
    if (messageId !== undefined && (await this.#hasSaid(chatId, messageId))) throw refusedEdit()
    return this.#ask(asked)
  }

  /** What was asked last is asked again. What was said stays said: the conversation goes on from its end, not from here. */
  async #askAgain(asked: Asked): Promise<Work> {
    const { chatId, message } = asked
    const { tasks, messages } = await this.#snapshot(chatId)
    const runs = tasks.filter((task) => isAskedBy(task, message.id))
    const live = runs.find(({ status }) => !isTerminal(status))
    if (live) return { task: live, isFresh: false }
    const last = messages.findLast(({ role }) => role === 'user')
    const isLast = last?.id === message.id || runs.some(({ id }) => id === last?.task)
    if (last && isLast) return this.#ask(asked, last.task)
    if (runs.length > 0 || messages.some(({ id }) => id === message.id)) throw refusedEdit()
    return this.#ask(asked)
  }

  /** The key makes it one run, however often the same message is sent. */
  async #ask({ chatId, message, body, metadata }: Asked, again?: string): Promise<Work> {
    const { agent, onBusy } = this.#options
    const given = body as { readonly metadata?: object } | undefined
    const thread = this.#thread(chatId)
    const key = ['chat', thread, encodeURIComponent(message.id), ...(again === undefined ? [] : [again])].join('/')
    try {
      const accepted = await this.#connected().run(thread, {
        agent,
        ...(onBusy && { onBusy }),
        ...given,
        ...askedBy(message),
        metadata: { ...(metadata as object | undefined), ...given?.metadata, message: message.id },
        idempotencyKey: key,
      })
      const { steered, isReplayed, ...task } = accepted
      if (steered === undefined) return { task, isFresh: !isReplayed }
      // Where an answer came late, the message may have been read before it.
      return { task, isFresh: false, steered: { message: steered, after: isReplayed ? 0 : task.seq } }
    } catch (error) {
      throw isHoldfastError(error) && error.code === 'idempotency_conflict' ? refusedEdit(error) : error
    }
  }

  async #hasSaid(chatId: string, message: string): Promise<boolean> {
    return (await this.#snapshot(chatId)).messages.some(({ id }) => id === message)
  }

  #snapshot(chatId: string): Promise<ThreadSnapshot> {
    return this.#connected().snapshot(this.#thread(chatId))
  }

  #thread(chatId: string): string {
    return this.#options.thread?.(chatId) ?? chatId
  }

  #connected(): Client {
    const options = this.#options
    this.#client ??= 'client' in options ? options.client : createClient(options)
    return this.#client
  }
}

/** Whether a run was accepted for a message of a chat, by the id that the page gave it or the one that the thread did. */
function isAskedBy({ id, metadata }: Task, message: string): boolean {
  return (metadata as { message?: unknown } | undefined)?.message === message || `${id}.user` === message
}

/** Whoever leaves it, by the signal or by cancelling the stream, ends what makes the chunks. */
function streamOf(
  signal: AbortSignal | undefined,
  make: (signal: AbortSignal) => AsyncGenerator<ChatChunk>,
): ReadableStream<ChatChunk> {
  const leaving = new AbortController()
  const left = signal ? AbortSignal.any([signal, leaving.signal]) : leaving.signal
  const chunks = make(left)
  // What makes them may be waiting for the next to be taken, and would not notice.
  left.addEventListener('abort', () => void chunks.return(undefined).catch(() => {}), { once: true })
  return new ReadableStream({
    async pull(controller) {
      const { done, value } = await chunks.next()
      if (done) controller.close()
      else controller.enqueue(value)
    },
    cancel: () => leaving.abort(),
  })
}

/** Rejects as soon as the signal fires; what is under way goes on. */
async function unlessAborted<Value>(work: Promise<Value>, signal: AbortSignal | undefined): Promise<Value> {
  if (!signal) return work
  const aborted = Promise.withResolvers<never>()
  const onAbort = () => aborted.reject(new DOMException('The chat was detached from', 'AbortError'))
  if (signal.aborted) onAbort()
  signal.addEventListener('abort', onAbort)
  try {
    return await Promise.race([work, aborted.promise])
  } finally {
    signal.removeEventListener('abort', onAbort)
  }
}

function refusedAnswer(): HoldfastError {
  const message = 'The last message of the chat is not from its user. Tools run on the server, so send a prompt'
  return new HoldfastError('invalid_request', message)
}

function refusedEdit(cause?: unknown): HoldfastError {
  const message =
    'What was said in a thread stays said, so a message cannot be changed. Send another one, or use another thread'
  return new HoldfastError('invalid_request', message, { cause })
}
