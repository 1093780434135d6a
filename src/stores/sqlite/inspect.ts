import { existsSync, statSync } from 'node:fs'
import { pathToFileURL } from 'node:url'
import { Connection } from './connection.ts'
import { isCopy } from './copy-mark.ts'
import { translateOpening } from './failure.ts'
import { locate } from './location.ts'
import { isHeld } from './lock.ts'
import { readSchema, type SchemaState } from './schema.ts'

/** What can be told of a store from outside, without its lock and without a change to it. */
export interface StoreReport {
  readonly path: string
  readonly bytes: number
  /** How much of it is in the write-ahead log. */
  readonly logBytes: number
  /** The rights of others than the owner to the file, its log and its lock; 0 is right. */
  readonly othersMode: number
  /** Another process has it open. */
  readonly isHeld: boolean
  /** A copy that was put here. A log beside it belongs to what was here before, and goes at the next start. */
  readonly isCopy: boolean
  readonly schema: SchemaState
  /** What SQLite finds wrong with it; empty if it is whole. */
  readonly damage: readonly string[]
  /** Tasks that nodes execute, or executed when they went, and that need their agent to go on. */
  readonly executing: readonly Executing[]
  /** The instant of the newest event, if there is any. */
  readonly newestAt?: number
}

export interface Executing {
  readonly node: string
  readonly agent: string
  readonly count: number
}

export interface InspectOptions {
  /** Looks for no damage, which takes as long as reading the file. */
  readonly isQuick?: boolean
}

const damageShownMax = 3

/** Looks at a store beside whatever is at work on it. Throws what keeps it from being read. */
export function inspectStore(given: string, { isQuick = false }: InspectOptions = {}): StoreReport {
  const path = locate(given, false)
  const held = isHeld(path)
  const copy = !held && isCopy(path)
  const files = ['', '-wal', '-lock'].map((suffix) => statSync(`${path}${suffix}`, { throwIfNoEntry: false }))
  const [bytes = 0, logBytes = 0] = files.map((file) => file?.size ?? 0)
  const othersMode = files.reduce((mode, file) => mode | ((file?.mode ?? 0) & 0o077), 0)
  // A reader makes the files of a log if there are none. Where nobody can be writing, it does not have to.
  const isStill = copy || (!held && !existsSync(`${path}-wal`))
  const read = readWithin(isStill ? `${pathToFileURL(path).href}?immutable=1` : path, path, isQuick)
  return { path, bytes, logBytes, othersMode, isHeld: held, isCopy: copy, ...read }
}

// Who was asked to stop, or has only to close, is ended by any node.
const selectExecuting = `
  SELECT node, coalesce(agent, '') AS agent, count(*) AS count FROM tasks INDEXED BY tasks_held
  WHERE held AND NOT closure AND cancel_requested_at IS NULL GROUP BY node, agent`

type Contents = Pick<StoreReport, 'schema' | 'damage' | 'executing' | 'newestAt'>

function readWithin(location: string, path: string, isQuick: boolean): Contents {
  try {
    const connection = new Connection(location, 'read')
    try {
      const schema = readSchema(connection, path)
      if (!schema.found || isQuick) return { schema, damage: [], executing: [] }
      const rows = connection.all<{ quick_check: string }>(`PRAGMA quick_check(${damageShownMax})`)
      const damage = rows.map((row) => row.quick_check).filter((row) => row !== 'ok')
      const newest = connection.get<{ at: number | null }>('SELECT max(at) AS at FROM threads')?.at
      const executing = connection.all<Executing>(selectExecuting)
      return { schema, damage, executing, ...(typeof newest === 'number' && { newestAt: newest }) }
    } finally {
      connection.close()
    }
  } catch (error) {
    throw translateOpening(error, path)
  }
}
