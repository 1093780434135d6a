import { randomUUID } from 'node:crypto'
import type { ThreadKey } from '../../core/id.ts'
import { pause } from './clock.ts'
import type { Connection } from './connection.ts'
import type { Opener } from './connections.ts'
import { areLent, backendOf } from './lent-backends.ts'
import { isFrom, joinNews, type News, type NoticeListener, noticesOf, readNotice } from './notice-text.ts'

const retryMsMin = 50
const retryMsMax = 2_000
// How long a notice to oneself may take before it is taken as lost.
const echoMsMax = 3_000

// It need not wait for the disk. That is set for the one statement: behind a pooler a commit may be next on the connection.
const notify = `
  WITH async AS MATERIALIZED (SELECT set_config('synchronous_commit', 'off', true) AS setting)
  SELECT pg_notify($1, text) FROM unnest(string_to_array($2, E'\\x02')) AS text, async WHERE async.setting = 'off'`
// Between notices that are sent at once. No text that is told holds it, and the driver has nothing to escape.
const betweenNotices = '\u0002'

/**
 * Tells other nodes which threads were written to, after the commit, and hears it from them; of short events also what was
 * written, so that nobody has to read it. All of it is a hint.
 *
 * N1 One connection sends, one statement at a time; what is committed meanwhile goes with the next, each thread once.
 * N2 A notice that could not be sent is dropped: whoever needs to know finds out by polling.
 * N3 The connection that listens comes back by itself. Where notices do not arrive, as behind a pooler that changes connections
 *    with every transaction, that is said once.
 * N4 The name of the channel is a secret of those who may read the store, because what is said there is what is in it.
 * N5 Nothing is listened to over a connection that a pooler lends anew with every transaction: it would stay listened to there,
 *    for whoever is lent it next, and be out of reach from here.
 */
export class Notices {
  readonly #sender: Opener
  readonly #receiver: Opener
  readonly #warn: (text: string) => void
  #channel = ''
  readonly #self: string = randomUUID()
  readonly #closing = new AbortController()
  readonly #closed: Promise<void>
  #hasWarned = false
  readonly #listeners = new Set<NoticeListener>()
  #unsent = new Map<ThreadKey, News>()
  #sending: Promise<void> | undefined
  #sent: Promise<unknown> = Promise.resolve()
  #listening: Promise<void> | undefined
  #connection: Connection | undefined
  #receiving: Connection | undefined
  #onEcho: () => void = () => {}

  constructor(sender: Opener, receiver: Opener, warn: (text: string) => void) {
    this.#sender = sender
    this.#receiver = receiver
    this.#warn = warn
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#closed = promise
    this.#closing.signal.addEventListener('abort', () => resolve())
  }

  /** Before anything is told or heard. */
  listenOn(channel: string): void {
    this.#channel = channel
  }

  watch(listener: NoticeListener): () => void {
    // Each call is one of its own, also of the same listener.
    const own: NoticeListener = (key, isChanged, row) => listener(key, isChanged, row)
    this.#listeners.add(own)
    this.#listening ??= this.#listen()
    return () => this.#listeners.delete(own)
  }

  tell(key: ThreadKey, news: News): void {
    this.#unsent.set(key, joinNews(this.#unsent.get(key), news))
    this.#sending ??= this.#send()
  }

  /** Tells and listens over others from now on: those there are lead to a server that nobody writes to. */
  retire(): void {
    for (const each of [this.#connection, this.#receiving]) each?.close().catch(() => undefined)
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
      while (this.#unsent.size > 0 && !this.#closing.signal.aborted) {
        const unsent = this.#unsent
        this.#unsent = new Map()
        await this.#notify(noticesOf(this.#self, unsent))
      }
    } catch {
      // N2.
      this.#unsent = new Map()
    } finally {
      this.#sending = undefined
    }
  }

  /** Sends notices after those before them. */
  async #notify(texts: readonly string[]): Promise<void> {
    const values = [this.#channel, texts.join(betweenNotices)]
    const statement = { name: 'notify', sql: notify, values, timeoutMs: echoMsMax }
    await this.#inTurn((connection) => connection.query(statement))
  }

  #inTurn<Result>(work: (connection: Connection) => Promise<Result>): Promise<Result> {
    const done = this.#sent.then(async () => {
      if (this.#connection?.isLost !== false) this.#connection = await this.#sender.open()
      return work(this.#connection)
    })
    this.#sent = done.catch(() => undefined)
    return done
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

  /** Listens until the connection is lost, or it is over; not where what listens would stay behind with others (N5). */
  async #hear(connection: Connection): Promise<void> {
    this.#receiving = connection
    const lost = new Promise<void>((resolve) => connection.onLost(resolve))
    connection.onNotice((text) => this.#heard(text))
    try {
      const isLent = await areLent(
        () => backendOf(connection),
        () => this.#inTurn(backendOf),
      )
      if (isLent) this.#warnOnce()
      else await this.#listenOver(connection, lost)
      await Promise.race([lost, this.#closed])
    } finally {
      await connection.close()
    }
  }

  async #listenOver(connection: Connection, lost: Promise<void>): Promise<void> {
    await connection.query({ sql: `LISTEN ${this.#channel}` })
    await this.#checkEcho(lost)
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
    if (first === 'late') this.#warnOnce()
  }

  #warnOnce(): void {
    if (!this.#hasWarned) this.#warn(noNotices)
    this.#hasWarned = true
  }

  #heard(text: string): void {
    if (isFrom(text, this.#self)) return this.#onEcho()
    readNotice(text, (key, isChanged, row) => {
      for (const listener of this.#listeners) listener(key, isChanged, row)
    })
  }
}

const noNotices =
  'PostgreSQL does not pass on notices over this connection, as behind a pooler in transaction mode: nodes find what others ' +
  'wrote by polling, up to a second later. Connect to the server itself to be told at once'
