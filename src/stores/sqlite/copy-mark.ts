import { closeSync, fsyncSync, openSync, readSync, rmSync, writeSync } from 'node:fs'
import { dirname } from 'node:path'
import { HoldfastError } from '../../core/errors.ts'

// SQLite leaves this number in the header of a file to programs. Ours is 0 in a store, and this in a copy nobody opened yet.
const mark = 0x48_46_43_50
const markAt = 60

/** Marks a database as a copy: whole in one file, without a write-ahead log. */
export const markCopy = `PRAGMA user_version = ${mark}`

/**
 * Whether the file is a copy that no store has been opened on yet. Only for a file whose lock is free, or is our own: to close
 * it drops the locks that SQLite holds on it in this process.
 */
export function isCopy(path: string): boolean {
  try {
    return withFile(path, 'r', readMark) === mark
  } catch {
    // It cannot be read: whoever opens it as a database says why.
    return false
  }
}

/**
 * Makes a copy that was put in the place of a store the store. A write-ahead log beside it is the old store's, whose process
 * was killed perhaps, and SQLite would write its pages over those of the copy. So it goes, and then the mark: from there on a
 * log beside the file is its own. To be called with the lock on the path, before SQLite opens the file.
 */
export function adoptCopy(path: string): void {
  if (!isCopy(path)) return
  rmSync(`${path}-wal`, { force: true })
  rmSync(`${path}-shm`, { force: true })
  syncToDisk(dirname(path))
  try {
    withFile(path, 'r+', removeMark)
  } catch (error) {
    const message = `The store ${path} cannot be written to. Make the file and its folder writable`
    throw new HoldfastError('store_unavailable', message, { cause: error })
  }
}

/** Has what was written to a file, or renamed in a folder, on disk. */
export function syncToDisk(path: string): void {
  withFile(path, 'r', fsyncSync)
}

export function withFile<Value>(path: string, flags: 'r' | 'r+', work: (file: number) => Value): Value {
  const file = openSync(path, flags)
  try {
    return work(file)
  } finally {
    closeSync(file)
  }
}

function removeMark(file: number): void {
  writeSync(file, Buffer.alloc(4), 0, 4, markAt)
  fsyncSync(file)
}

function readMark(file: number): number | undefined {
  const bytes = Buffer.alloc(4)
  return readSync(file, bytes, 0, 4, markAt) === 4 ? bytes.readUInt32BE() : undefined
}
