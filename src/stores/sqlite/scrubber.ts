import { closeSync, fsyncSync, openSync, statSync } from 'node:fs'
import type { Connection } from './connection.ts'
import { zeroUnownedBytes } from './unowned-bytes.ts'

// Other programs may read the file for long, a backup for one; commits must not wait for them each time.
const retryMs = 10_000
// Our own reads take less.
const readersTimeoutMs = 250

/**
 * Sees to it that what was erased is in none of the files. Deleted cells and pages are zeroed by SQLite (`secure_delete`);
 * what is left are older versions of pages in the write-ahead log, and copies in the unallocated parts of pages.
 *
 * S1 An erase and the note that its traces are to be removed are one commit; the note goes when they are gone. So a crash
 *    in between is made good when the file is opened again.
 * S2 Pages are changed beneath SQLite only with its write lock held and an empty log, and only where they hold nothing.
 * S3 The writer's page cache, which may hold copies as well, is thrown away before, or the next commit would write them. That of
 *    any other connection SQLite throws away by itself, because the commit here changes the log.
 * S4 The file stays open until the last connection is closed: closing it would drop the locks that SQLite holds on it in
 *    this process.
 */
export class Scrubber {
  readonly #connection: Connection
  readonly #path: string
  #isDue: boolean
  #triedAt: number | undefined
  #file: number | undefined

  constructor(connection: Connection, path: string) {
    this.#connection = connection
    this.#path = path
    this.#isDue = connection.get<{ scrub_due: number }>('SELECT scrub_due FROM holdfast_meta')?.scrub_due === 1
  }

  get isDue(): boolean {
    return this.#isDue
  }

  /** Notes in the transaction of an erase that there is something to do (S1). */
  note(): void {
    this.#connection.run('UPDATE holdfast_meta SET scrub_due = 1')
  }

  /** An erase was committed. */
  demand(): void {
    this.#isDue = true
    this.#triedAt = undefined
  }

  /**
   * Removes the traces if there are any and nobody is in the way. It never fails: what it follows is committed, and what
   * it could not do is tried again.
   */
  attempt(now: number): void {
    if (!this.#isDue || (this.#triedAt !== undefined && Math.abs(now - this.#triedAt) < retryMs)) return
    this.#triedAt = now
    try {
      this.#isDue = !this.#scrub()
    } catch {
      // A disk that fails shows in the next commit as well, which says so.
    }
  }

  /** Call it after the connection is closed (S4). */
  close(): void {
    if (this.#file !== undefined) closeSync(this.#file)
    this.#file = undefined
  }

  #scrub(): boolean {
    if (!this.#emptyLog()) return false
    this.#connection.reopen()
    return this.#connection.transaction('BEGIN IMMEDIATE', () => {
      // Another program may have written since.
      if (logBytes(this.#path) > 0) return false
      this.#file ??= openSync(this.#path, 'r+')
      zeroUnownedBytes(this.#file)
      fsyncSync(this.#file)
      this.#connection.run('UPDATE holdfast_meta SET scrub_due = 0')
      return true
    })
  }

  #emptyLog(): boolean {
    const before = this.#connection.get<{ timeout: number }>('PRAGMA busy_timeout')?.timeout ?? 0
    this.#connection.exec(`PRAGMA busy_timeout = ${readersTimeoutMs}`)
    try {
      return this.#connection.get<{ busy: number }>('PRAGMA wal_checkpoint(TRUNCATE)')?.busy === 0
    } finally {
      this.#connection.exec(`PRAGMA busy_timeout = ${before}`)
    }
  }
}

function logBytes(path: string): number {
  return statSync(`${path}-wal`, { throwIfNoEntry: false })?.size ?? 0
}
