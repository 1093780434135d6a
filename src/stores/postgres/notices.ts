import { randomUUID } from 'node:crypto'
import type { ThreadKey } from '../../core/id.ts'
import { pause } from './clock.ts'
import type { Connection } from './connection.ts'
import type { Opener } from './connections.ts'

// The server refuses a notice of 8,000 bytes. Keys are ASCII.
const noticeLengthMax = 7_900
const retryMsMin = 50
const retryMsMax = 2_000
// How long a notice to oneself may take before it is taken as lost.
const echoMsMax = 3_000

// It need not wait for the disk. That is set for the one statement: behind a pooler a commit may be next on the connection.
const notify = `
  WITH async AS MATERIALIZED (SELECT set_config('synchronous_commit', 'off', true) AS setting)
  SELECT pg_notify($1, text) FROM unnest($2::text[]) AS text, async WHERE async.setting = 'off'`

// Of threads named after it only the log has grown. A key has a slash in it.
const logsFromHere = '+'

export type NoticeListener = (key: ThreadKey, isChanged: boolean) => void

/**
 * Tells other nodes which threads were written to, after the commit, and hears it from them. All of it is a hint.
 *
 * N1 One connection sends, one statement at a time; what is committed meanwhile goes with the next, each thread once.
 * N2 A notice that could not be sent is dropped: whoever needs to know finds out by polling.
 * N3 The connection that listens comes back by itself. Where notices do not arrive, as behind a pooler that changes connections
 *    with every transaction, that is said once.
 */
export class Notices {
  readonly #sender: Opener
  readonly #receiver: Opener
  readonly #channel: string
  readonly #warn: (text: string) => void
  readonly #self: string = randomUUID()
  readonly #closing = new AbortController()
  readonly #closed: Promise<void>
  #hasWarned = false
  readonly #listeners = new Set<NoticeListener>()
  /** Whether more than the log of a thread has changed. */
  readonly #untold = new Map<ThreadKey, boolean>()
  #sending: Promise<void> | undefined
  #sent: Promise<void> = Promise.resolve()
  #listening: Promise<void> | undefined
  #connection: Connection | undefined
  #onEcho: () => void = () => {}

  constructor(sender: Opener, receiver: Opener, channel: string, warn: (text: string) => void) {
    this.#sender = sender
    this.#receiver = receiver
    this.#channel = channel
    this.#warn = warn
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#closed = promise
    this.#closing.signal.addEventListener('abort', () => resolve())
  }

  watch(listener: NoticeListener): () => void {
    // Each call is one of its own, also of the same listener.
    const own: NoticeListener = (key, isChanged) => listener(key, isChanged)
    this.#listeners.add(own)
    this.#listening ??= this.#listen()
    return () => this.#listeners.delete(own)
  }

  tell(key: ThreadKey, isChanged: boolean): void {
    this.#untold.set(key, isChanged || this.#untold.get(key) === true)
    this.#sending ??= this.#send()
  }

  async close(): Promise<void> {
    this.#closing.abort()
    await Promise.all([this.#sending, this.#listening])
    await this.#connection?.close()
  }

  async #send(): Promise<void> {
    try {
      // All of a commit go together.
      await Promise.resolve()
      while (this.#untold.size > 0 && !this.#closing.signal.aborted) {
        const texts = [...noticesOf(this.#self, this.#untold)]
        this.#untold.clear()
        await this.#notify(texts)
      }
    } catch {
      // N2.
      this.#untold.clear()
    } finally {
      this.#sending = undefined
    }
  }

  /** Sends notices after those before them. */
  async #notify(texts: readonly string[]): Promise<void> {
    const sent = this.#sent.then(async () => {
      if (this.#connection?.isLost !== false) this.#connection = await this.#sender.open()
      await this.#connection.query({
        name: 'notify',
        sql: notify,
        values: [this.#channel, texts],
        timeoutMs: echoMsMax,
      })
    })
    this.#sent = sent.catch(() => undefined)
    await sent
  }

  async #listen(): Promise<void> {
    const { signal } = this.#closing
    for (let delayMs = retryMsMin; !signal.aborted; delayMs = Math.min(retryMsMax, delayMs * 2)) {
      try {
        const connection = await this.#receiver.open()
        delayMs = retryMsMin
        await this.#hear(connection)
      } catch {
        // The server cannot be reached. Whoever writes says so; here it is tried again.
      }
      await pause(delayMs, signal)
    }
  }

  /** Listens until the connection is lost, or it is over. */
  async #hear(connection: Connection): Promise<void> {
    const lost = new Promise<void>((resolve) => connection.onLost(resolve))
    connection.onNotice((text) => this.#heard(text))
    try {
      await connection.query({ sql: `LISTEN ${this.#channel}` })
      await this.#checkEcho(lost)
      await Promise.race([lost, this.#closed])
    } finally {
      await connection.close()
    }
  }

  async #checkEcho(lost: Promise<void>): Promise<void> {
    const heard = new Promise<'heard'>((resolve) => {
      this.#onEcho = () => resolve('heard')
    })
    const waiting = new AbortController()
    await this.#notify([this.#self])
    const late = pause(echoMsMax, waiting.signal).then(() => 'late' as const)
    const first = await Promise.race([heard, late, lost, this.#closed])
    waiting.abort()
    if (first !== 'late' || this.#hasWarned) return
    this.#hasWarned = true
    this.#warn(noNotices)
  }

  #heard(text: string): void {
    const [from, ...keys] = text.split(' ')
    if (from === this.#self) return this.#onEcho()
    let isChanged = true
    for (const key of keys) {
      if (key === logsFromHere) isChanged = false
      else for (const listener of this.#listeners) listener(key as ThreadKey, isChanged)
    }
  }
}

const noNotices =
  'PostgreSQL does not pass on notices over this connection, as behind a pooler in transaction mode. Everything works, ' +
  'but nodes find what others wrote by polling, up to a second later. Connect to the server itself to be told at once'

function* noticesOf(self: string, untold: ReadonlyMap<ThreadKey, boolean>): Generator<string> {
  const [changed = [], grown = []] = [true, false].map((is) =>
    [...untold.keys()].filter((key) => untold.get(key) === is),
  )
  yield* packed(self, changed)
  yield* packed(`${self} ${logsFromHere}`, grown)
}

/** The keys after what stands before them, as many to a notice as it holds. */
function* packed(before: string, keys: readonly ThreadKey[]): Generator<string> {
  let text = before
  for (const key of keys) {
    if (text.length + 1 + key.length > noticeLengthMax) {
      yield text
      text = before
    }
    text = `${text} ${key}`
  }
  if (text !== before) yield text
}
