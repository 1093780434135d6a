import { DatabaseSync, type SQLInputValue, type StatementSync } from 'node:sqlite'

// Another program, such as a backup, may keep the writer waiting for a moment. Readers of a write-ahead log never wait.
const writeTimeoutMs = 2_000

/** A connection and its prepared statements, each prepared once. */
export class Connection {
  readonly #open: () => DatabaseSync
  #database: DatabaseSync
  readonly #statements = new Map<string, StatementSync>()
  #settings = ''

  /** `write now` is refused where `write` waits. */
  constructor(path: string, mode: 'read' | 'write' | 'write now') {
    const timeout = mode === 'write' ? writeTimeoutMs : 0
    this.#open = () => new DatabaseSync(path, { readOnly: mode === 'read', timeout })
    this.#database = this.#open()
  }

  /** Settings of this connection, kept over `reopen`. */
  configure(settings: string): void {
    this.#database.exec(settings)
    this.#settings = settings
  }

  /** Begins anew with an empty page cache. If that fails it stays as it is. */
  reopen(): void {
    const next = this.#open()
    try {
      next.exec(this.#settings)
    } catch (error) {
      next.close()
      throw error
    }
    this.#statements.clear()
    this.#database.close()
    this.#database = next
  }

  prepare(sql: string): StatementSync {
    const known = this.#statements.get(sql)
    if (known) return known
    const statement = this.#database.prepare(sql)
    this.#statements.set(sql, statement)
    return statement
  }

  /** The first row. Its type is the caller's word: SQL cannot be checked here. */
  get<Row>(sql: string, ...values: SQLInputValue[]): Row | undefined {
    return this.prepare(sql).get(...values) as Row | undefined
  }

  all<Row>(sql: string, ...values: SQLInputValue[]): Row[] {
    return this.prepare(sql).all(...values) as Row[]
  }

  /** Says how many rows it changed. */
  run(sql: string, ...values: SQLInputValue[]): number {
    return Number(this.prepare(sql).run(...values).changes)
  }

  exec(sql: string): void {
    this.#database.exec(sql)
  }

  /** All or nothing for a writer; one moment for a reader. */
  transaction<Result>(begin: 'BEGIN' | 'BEGIN IMMEDIATE', work: () => Result): Result {
    this.run(begin)
    try {
      const result = work()
      this.run('COMMIT')
      return result
    } catch (error) {
      // SQLite has rolled back by itself after some errors.
      if (this.#database.isTransaction) this.run('ROLLBACK')
      throw error
    }
  }

  close(): void {
    this.#statements.clear()
    if (this.#database.isOpen) this.#database.close()
  }
}
