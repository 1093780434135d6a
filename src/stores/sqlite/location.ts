import { closeSync, existsSync, mkdirSync, openSync, realpathSync, type Stats, statSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { HoldfastError } from '../../core/errors.ts'

/**
 * The one true path of the file. If it is not there it is made, with its folder, for its owner alone; SQLite gives its
 * companions the same rights. Links are resolved, because the lock stands beside the path: two names of one
 * file must not give two locks.
 */
export function locate(path: string, mayCreate: boolean): string {
  if (path === '' || path === ':memory:') {
    throw new HoldfastError('invalid_request', 'A SQLite store needs the path of a file; memory: keeps nothing')
  }
  const absolute = resolve(path)
  if (!existsSync(absolute)) {
    if (!mayCreate) throw new HoldfastError('store_schema', `There is no store at ${absolute}. Let it migrate first`)
    create(absolute)
  }
  const located = realpathSync(absolute)
  const { nlink } = checkedFile(absolute, located)
  // Each name has a lock and a write-ahead log of its own.
  if (nlink <= 1) return located
  const message = `The file ${absolute} has another name as well, by a hard link, under which another process could write to it. Remove one of the names, or copy the file`
  throw new HoldfastError('store_unavailable', message)
}

function checkedFile(path: string, located: string): Stats {
  const stats = statSync(located)
  if (stats.isFile()) return stats
  throw new HoldfastError('store_unavailable', `${path} is no file. Name a file in it, or another one`)
}

function create(path: string): void {
  try {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
    closeSync(openSync(path, 'a', 0o600))
  } catch (error) {
    const message = `The file ${path} cannot be made. Make its folder writable, or name another file`
    throw new HoldfastError('store_unavailable', message, { cause: error })
  }
}

/**
 * Makes an empty file for its owner alone if there is none. One that exists is not even opened: closing any descriptor of
 * it would drop the locks that SQLite holds on it in this process.
 */
export function createPrivately(path: string): void {
  try {
    closeSync(openSync(path, 'wx', 0o600))
  } catch {
    // It is there already, or cannot be made: opening it as a database says why.
  }
}
