import { createHash } from 'node:crypto'
import { Socket } from 'node:net'
import pg from 'pg'
import { pause } from './clock.ts'
import { isLostName, isReadOnly, isRefusal } from './failure.ts'
import type { Location } from './location.ts'

// What `bigint` holds here are numbers and instants that JavaScript counts exactly.
const bigintOid = 20
const types = {
  getTypeParser: ((oid: number, format?: 'text' | 'binary') =>
    oid === bigintOid ? Number : pg.types.getTypeParser(oid, format)) as typeof pg.types.getTypeParser,
}

const connectMsDefault = 5_000
// Without a word for so long the other side is asked whether it is still there.
const keepAliveMs = 10_000
// Long enough for a good-bye to arrive, short enough for whoever closes while the network is gone.
const goodByeMs = 500

export interface Statement {
  readonly sql: string
  /** Prepared once per connection under this name, for what is asked all the time and always planned alike. */
  readonly name?: string
  readonly values?: readonly unknown[]
  /** Without an answer for this long the connection is given up. */
  readonly timeoutMs?: number
}

/** What is set on a connection, such as `{ statement_timeout: 5000 }`. */
export type ConnectionSettings = Readonly<Record<string, string | number>>

export interface Timeouts {
  /** Of statements that name none. */
  readonly timeoutMs?: number
  /** Of each of the two steps by which a connection is made. */
  readonly connectMs?: number
}

/**
 * One connection. A connection that failed once is lost for good; whoever uses it opens another.
 *
 * In statements `holdfast.` stands for the schema of the store.
 */
export class Connection {
  readonly #client: pg.Client
  readonly #socket: Socket
  readonly #schema: string
  /** Statements that have a name, with the schema in them. They are few, and asked over and over. */
  readonly #texts = new Map<string, string>()
  readonly #timeoutMs: number | undefined
  #isLost = false
  #isSilent = false
  #isReadOnly = false
  #isPooled = false
  /** A pooler that changes connections with every transaction may not. */
  #keepsNames = true
  #onLost: (() => void)[] = []

  private constructor(client: pg.Client, socket: Socket, schema: string, timeoutMs: number | undefined) {
    this.#timeoutMs = timeoutMs
    this.#client = client
    this.#socket = socket
    this.#schema = schema
    client.on('error', () => this.#lose())
    client.on('end', () => this.#lose())
  }

  /** Connects and sets what the connection is to have, unless it is a pooler's. */
  static async open(
    { connectionString, schema }: Location,
    settings: ConnectionSettings,
    { timeoutMs, connectMs = connectMsDefault }: Timeouts = {},
  ): Promise<Connection> {
    const socket = new Socket()
    const client: pg.Client & { readonly processID?: number | null } = new pg.Client({
      connectionString,
      stream: () => socket,
      types,
      application_name: 'holdfast',
      connectionTimeoutMillis: connectMs,
      keepAlive: true,
      keepAliveInitialDelayMillis: keepAliveMs,
    })
    const connection = new Connection(client, socket, schema, timeoutMs)
    try {
      await client.connect()
      const query = { text: setUnlessPooled(settings, client), query_timeout: connectMs }
      const { rows } = await client.query(query)
      connection.#isPooled = Object.keys(settings).length > 0 && rows.length === 0
      return connection
    } catch (error) {
      connection.abandon()
      throw error
    }
  }

  get isLost(): boolean {
    return this.#isLost
  }

  /** It was given up because no answer came in time: another one would hardly be answered sooner. */
  get isSilent(): boolean {
    return this.#isSilent
  }

  /** It was given up because its server takes no writes: after a failover it would lead there for as long as it is kept. */
  get isReadOnly(): boolean {
    return this.#isReadOnly
  }

  /** What it was to have was not set, because a pooler stands between. */
  get isPooled(): boolean {
    return this.#isPooled
  }

  /** Called once, when the connection is lost or closed. */
  onLost(listener: () => void): void {
    if (this.#isLost) listener()
    else this.#onLost.push(listener)
  }

  onNotice(listener: (text: string) => void): void {
    this.#client.on('notification', ({ payload }) => listener(payload ?? ''))
  }

  /** The rows. Their type is the caller's word: SQL cannot be checked here. */
  async query<Row>({ sql, name, values = [], timeoutMs = this.#timeoutMs }: Statement): Promise<Row[]> {
    const query = {
      text: name === undefined ? inSchema(sql, this.#schema) : this.#textOf(sql),
      values: [...values],
      ...(timeoutMs !== undefined && { query_timeout: timeoutMs }),
    }
    try {
      const named = name === undefined || !this.#keepsNames ? query : { ...query, name: nameOf(name, query.text) }
      return (await this.#client.query(named)).rows as Row[]
    } catch (error) {
      this.#isReadOnly ||= isReadOnly(error)
      if (!isRefusal(error) || this.#isReadOnly) this.abandon()
      if (error instanceof Error && error.message === 'Query read timeout') this.#isSilent = true
      if (name === undefined || !this.#keepsNames || !isLostName(error)) throw error
      // It was not executed, because nobody knew what it is.
      this.#keepsNames = false
      return this.query({ sql, values, ...(timeoutMs !== undefined && { timeoutMs }) })
    }
  }

  #textOf(sql: string): string {
    const known = this.#texts.get(sql)
    if (known !== undefined) return known
    const text = inSchema(sql, this.#schema)
    this.#texts.set(sql, text)
    return text
  }

  /** Several statements in one go, which take no values. */
  async run(sql: string): Promise<void> {
    await this.#client.query(inSchema(sql, this.#schema))
  }

  async close(): Promise<void> {
    if (this.#isLost) return
    this.#lose()
    const waiting = new AbortController()
    const closed = this.#client.end().finally(() => waiting.abort())
    await Promise.race([closed, pause(goodByeMs, waiting.signal)])
    this.#socket.destroy()
  }

  /** Gives it up without a word. */
  abandon(): void {
    this.#lose()
    this.#socket.destroy()
  }

  #lose(): void {
    this.#isLost = true
    for (const listener of this.#onLost.splice(0)) listener()
  }
}

/**
 * A pooler tells its clients the number of no server process, or of one that it will not keep for them: it may hand what is set
 * there on to others. Then nothing is set, and what the server has for the user counts.
 */
function setUnlessPooled(settings: ConnectionSettings, { processID }: { readonly processID?: number | null }): string {
  const values = Object.entries(settings).map(([name, value]) => `('${name}', '${value}')`)
  if (values.length === 0 || processID == null) return ''
  // Some are of later versions than others.
  return `SELECT set_config(s.name, s.value, false) FROM (VALUES ${values.join(', ')}) AS s (name, value)
    WHERE pg_backend_pid() = ${processID} AND current_setting(s.name, true) IS NOT NULL`
}

const names = new Map<string, string>()

/**
 * The name under which a text is prepared. Behind a pooler a connection may know names of another store or of another version, so
 * a name means one text wherever it is used.
 */
function nameOf(name: string, text: string): string {
  const known = names.get(text)
  if (known !== undefined) return known
  const digest = createHash('sha256').update(text).digest('hex').slice(0, 16)
  const full = `holdfast_${name}_${digest}`
  names.set(text, full)
  return full
}

/** What stands for the schema of the store is its name. */
export function inSchema(sql: string, schema: string): string {
  return sql.replaceAll(/\bholdfast\./g, `${schema}.`)
}
