import { randomBytes } from 'node:crypto'
import { closeSync, existsSync, lstatSync, openSync, realpathSync, renameSync, rmSync, statSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { backup, DatabaseSync } from 'node:sqlite'
import { HoldfastError, isHoldfastError } from '../../core/errors.ts'
import { Connection } from './connection.ts'
import { isCopy, markCopy, syncToDisk, withFile } from './copy-mark.ts'
import { translate, translateOpening } from './failure.ts'
import { locate } from './location.ts'
import { isHeld } from './lock.ts'
import { readSchema } from './schema.ts'
import { zeroUnownedBytes } from './unowned-bytes.ts'

export interface BackUpOptions {
  /** The file of the store. A server may be at work on it. */
  readonly path: string
  readonly target: string
  /** Replaces a target that is there. */
  readonly force?: boolean
  /** Called now and then with the share that is copied, from 0 to 1. */
  readonly onProgress?: (share: number) => void
  readonly signal?: AbortSignal
}

export interface BackUp {
  readonly target: string
  readonly bytes: number
}

// Some megabytes between two looks at the signal.
const pagesPerStep = 512
const companions = ['', '-journal', '-wal', '-shm'] as const

/**
 * Copies a store into one file while its server goes on.
 *
 * B1 The copy is of one moment: a read transaction that is open from the first page to the last holds it. Without one SQLite
 *    begins again whenever another process has committed, and beside a busy server never comes to an end.
 * B2 Nobody waits for it. A reader of a write-ahead log takes no lock that a writer wants, and the lock of the server is not
 *    touched; only the log grows until the copy is made.
 * B3 What was erased before it began is not in it, even where its traces are still to be removed from the store.
 * B4 The target is there whole, checked and on disk, or not at all: it is written under another name and renamed.
 */
export async function backUp(options: BackUpOptions): Promise<BackUp> {
  const source = locate(options.path, false)
  const target = resolve(options.target)
  checkTarget(source, target, options.force ?? false)
  if (!isHeld(source) && isCopy(source)) {
    throw new HoldfastError('store_schema', `${source} is a copy that no server was started on. Copy it as it is`)
  }
  const draft = `${target}.part-${randomBytes(6).toString('hex')}`
  try {
    createDraft(draft)
    await copy(source, draft, options)
    options.signal?.throwIfAborted()
    finish(draft)
    syncToDisk(draft)
    put(draft, target, options.force ?? false)
    return { target, bytes: statSync(target).size }
  } finally {
    for (const companion of companions) rmSync(`${draft}${companion}`, { force: true })
  }
}

function checkTarget(source: string, target: string, force: boolean): void {
  const folder = dirname(target)
  if (!existsSync(folder)) throw new HoldfastError('invalid_request', `There is no folder ${folder}. Make it first`)
  const inFolder = resolve(realpathSync(folder), target.slice(folder.length).replace(/^\/+/, ''))
  if ([...companions, '-lock'].some((companion) => inFolder === `${source}${companion}`)) {
    throw new HoldfastError('invalid_request', `${target} belongs to the store itself. Name another file`)
  }
  const there = lstatSync(target, { throwIfNoEntry: false })
  if (!there) return
  if (!force) throw taken(target)
  // To rename over a device or a pipe would remove it from under whoever uses it.
  if (there.isFile()) return
  throw new HoldfastError('invalid_request', `${target} is no plain file, and is not replaced. Name another one`)
}

function taken(target: string): HoldfastError {
  return new HoldfastError('name_taken', `${target} is there already. Name another file, or give --force to replace it`)
}

function createDraft(draft: string): void {
  try {
    closeSync(openSync(draft, 'wx', 0o600))
  } catch (error) {
    const message = `${draft} cannot be written. Make its folder writable, or name a file elsewhere`
    throw new HoldfastError('store_unavailable', message, { cause: error })
  }
}

async function copy(source: string, draft: string, { onProgress, signal }: BackUpOptions): Promise<void> {
  const reader = openReader(source)
  try {
    reader.exec('BEGIN')
    // Begins the transaction in fact (B1).
    reader.prepare('SELECT count(*) FROM sqlite_schema').get()
    await backup(reader, draft, {
      rate: pagesPerStep,
      progress({ totalPages, remainingPages }) {
        signal?.throwIfAborted()
        onProgress?.(totalPages === 0 ? 1 : 1 - remainingPages / totalPages)
      },
    })
  } catch (error) {
    signal?.throwIfAborted()
    throw translate(error, draft)
  } finally {
    reader.close()
  }
}

function openReader(source: string): DatabaseSync {
  try {
    const connection = new Connection(source, 'read')
    try {
      const { found } = readSchema(connection, source)
      if (!found) throw new HoldfastError('store_schema', `The store ${source} is empty. There is nothing to copy`)
    } finally {
      connection.close()
    }
    return new DatabaseSync(source, { readOnly: true })
  } catch (error) {
    throw translateOpening(error, source)
  }
}

/** Makes the copy one file that needs no log beside it, says that it is a copy, and checks every page of it. */
function finish(draft: string): void {
  try {
    inDatabase(draft, (database) => database.exec(`PRAGMA journal_mode = DELETE; ${markCopy}`))
    withFile(draft, 'r+', zeroUnownedBytes)
    const found = inDatabase(draft, (database) => database.prepare('PRAGMA integrity_check(1)').get())
    if (found?.['integrity_check'] !== 'ok') throw damaged(String(found?.['integrity_check']))
  } catch (error) {
    if (isHoldfastError(error)) throw error
    throw damaged(error instanceof Error ? error.message : String(error))
  }
}

function inDatabase<Value>(path: string, work: (database: DatabaseSync) => Value): Value {
  const database = new DatabaseSync(path)
  try {
    return work(database)
  } finally {
    database.close()
  }
}

function damaged(what: string): HoldfastError {
  return new HoldfastError('store_failed', `The copy is damaged, and so may be the store: ${what}. Run holdfast doctor`)
}

function put(draft: string, target: string, force: boolean): void {
  // Whoever made the file meanwhile does not lose it.
  if (!force) reserve(target)
  renameSync(draft, target)
  syncToDisk(dirname(target))
}

function reserve(target: string): void {
  try {
    closeSync(openSync(target, 'wx', 0o600))
  } catch {
    throw taken(target)
  }
}
