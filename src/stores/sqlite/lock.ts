import { existsSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { HoldfastError } from '../../core/errors.ts'
import { isBusy, translateOpening } from './failure.ts'
import { createPrivately } from './location.ts'

// Longer than `isHeld` keeps it from others; nobody else ever lets go of it so soon.
const patienceMs = 100

// A lock that was collected would be let go, though what it guards may still be written to.
const held = new Set<FileLock>()

/**
 * The right of one process, and in it of one store, to the file at `path`: an open exclusive transaction on a small
 * database beside it. The kernel ends it with the process, however that dies, so nothing is ever left to clean up.
 */
export class FileLock {
  readonly #database: DatabaseSync

  /** Takes it, or throws `store_locked` in no time. */
  constructor(path: string) {
    try {
      this.#database = take(`${path}-lock`)
    } catch (error) {
      if (!isBusy(error)) throw translateOpening(error, `${path}-lock`)
      const message = `The store ${path} is in use by another process. Stop that one first, or name another file`
      throw new HoldfastError('store_locked', message, { cause: error, facts: { path } })
    }
    held.add(this)
  }

  release(): void {
    held.delete(this)
    if (this.#database.isOpen) this.#database.close()
  }
}

function take(path: string): DatabaseSync {
  createPrivately(path)
  const database = new DatabaseSync(path, { timeout: patienceMs })
  try {
    database.exec('BEGIN EXCLUSIVE')
    return database
  } catch (error) {
    database.close()
    throw error
  }
}

/** Whether a process has the store at `path` open, found out without taking anything from it. */
export function isHeld(path: string): boolean {
  if (!existsSync(`${path}-lock`)) return false
  try {
    const database = new DatabaseSync(`${path}-lock`, { readOnly: true, timeout: 0 })
    try {
      // An exclusive transaction keeps readers out.
      database.prepare('SELECT count(*) FROM sqlite_schema').get()
      return false
    } finally {
      database.close()
    }
  } catch (error) {
    if (isBusy(error)) return true
    throw translateOpening(error, `${path}-lock`)
  }
}
