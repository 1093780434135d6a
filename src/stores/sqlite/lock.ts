import { DatabaseSync } from 'node:sqlite'
import { HoldfastError } from '../../core/errors.ts'
import { isBusy, translateOpening } from './failure.ts'
import { createPrivately } from './location.ts'

/**
 * The right of one process, and in it of one store, to the file at `path`: an open exclusive transaction on a small
 * database beside it. The kernel ends it with the process, however that dies, so nothing is ever left to clean up.
 */
export class FileLock {
  readonly #database: DatabaseSync

  /** Takes it or throws `store_locked` at once. */
  constructor(path: string) {
    try {
      this.#database = take(`${path}-lock`)
    } catch (error) {
      if (!isBusy(error)) throw translateOpening(error, `${path}-lock`)
      const message = `The store ${path} is in use by another process. Stop that one first, or name another file`
      throw new HoldfastError('store_locked', message, { cause: error })
    }
  }

  release(): void {
    if (this.#database.isOpen) this.#database.close()
  }
}

function take(path: string): DatabaseSync {
  createPrivately(path)
  const database = new DatabaseSync(path, { timeout: 0 })
  try {
    database.exec('BEGIN EXCLUSIVE')
    return database
  } catch (error) {
    database.close()
    throw error
  }
}
