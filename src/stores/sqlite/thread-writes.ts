import { invariant } from '../../core/errors.ts'
import { principalOf, type ThreadKey } from '../../core/id.ts'
import type { Connection } from './connection.ts'
import type { PackedUnit, Piece } from './packed-batch.ts'

/** A thread as the units taken so far have left it. */
export interface KnownThread {
  readonly n: number
  readonly key: ThreadKey
  /** The lowest number that is kept. */
  first: number
  head: number
  rev: number
  wakes: number
  at: number
  /** Its row, as its last commit left it; undefined if it has none yet. */
  stored: ThreadRow | undefined
  /** Encoded events that wait for `flush`; the last of them has the number `head`. */
  pieces: PlacedPiece[]
}

interface PlacedPiece extends Piece {
  /** Where it begins in the bytes of the batch. */
  readonly from: number
}

interface ThreadRow {
  readonly n: number
  readonly first: number
  readonly head: number
  readonly rev: number
  readonly wakes: number
  readonly at: number
}

interface FrontRow {
  readonly last: number
  readonly length: number
}

const selectThread = 'SELECT n, first, head, rev, wakes, at FROM threads WHERE key = ?'

const selectHighest = 'SELECT max(n) AS n FROM threads'

const insertThread = `
  INSERT INTO threads (n, key, principal, first, head, rev, wakes, at) VALUES (?, ?, ?, ?, ?, ?, ?, ?)`

const updateThread = `
  UPDATE threads SET first = ?, head = ?, rev = ?, wakes = ?, at = ? WHERE n = ? AND head = ? AND rev = ?`

const eraseContent = ['chunks', 'messages', 'mail'].map((table) => `DELETE FROM ${table} WHERE thread = ?`)

// Only the head of a row is read for this, however long its body is.
const selectFront = `
  SELECT last, octet_length(body) AS length FROM chunks INDEXED BY chunks_by_first
  WHERE thread = ? AND first <= ?
  ORDER BY first
  LIMIT ?`

const deleteFront = 'DELETE FROM chunks WHERE thread = ? AND first <= ?'

// What is removed in one go takes a few milliseconds, so that nobody who appends is held up by it.
const trimRowCountMax = 128
const trimLengthMax = 262_144

const insertChunk = 'INSERT INTO chunks (thread, first, last, at, body) VALUES (?, ?, ?, ?, CAST(? AS TEXT))'

// Some hundred bytes each: enough for all threads that are written to at the same time.
const knownCountMax = 10_000

/**
 * The threads that are written to. Their rows and chunks are written once per transaction, at its end. What was read stays
 * known until it is forgotten; if somebody has written meanwhile, the row is not as it was left and the transaction fails.
 */
export class ThreadWrites {
  readonly #connection: Connection
  readonly #known = new Map<ThreadKey, KnownThread>()
  readonly #used = new Set<KnownThread>()
  /** The number of the next new thread, once it was asked for. */
  #next: number | undefined

  constructor(connection: Connection) {
    this.#connection = connection
  }

  find(key: ThreadKey): KnownThread | undefined {
    const known = this.#known.get(key)
    if (known) return known
    const row = this.#connection.get<ThreadRow>(selectThread, key)
    return row && this.#keep({ ...row, key, stored: row, pieces: [] })
  }

  /** The thread as it was found, or a new one, to be written to. */
  use(key: ThreadKey, found: KnownThread | undefined, now: number): KnownThread {
    const thread = found ?? this.#make(key, now)
    this.#used.add(thread)
    return thread
  }

  append(thread: KnownThread, { from, pieces, eventCount }: PackedUnit, at: number): void {
    if (eventCount === 0) return
    let next = from
    for (const { bytes, events } of pieces) {
      thread.pieces.push({ from: next, bytes, events })
      next += bytes
    }
    thread.head += eventCount
    thread.at = at
  }

  /**
   * Removes what the thread holds beside tasks, also what waits for `flush`. Its row stays, because its numbers go on.
   * Says how many events those were.
   */
  erase(thread: KnownThread): number {
    const eventCount = thread.head - thread.first + 1
    for (const sql of eraseContent) this.#connection.run(sql, thread.n)
    thread.pieces = []
    thread.first = thread.head + 1
    thread.wakes = 0
    return eventCount
  }

  /** Removes some of the rows that end at this number or before, from the front. Says how many events those were. */
  trim(thread: KnownThread, upTo: number): number {
    const before = thread.first
    let length = 0
    for (const row of this.#connection.all<FrontRow>(selectFront, thread.n, upTo, trimRowCountMax)) {
      length += row.length
      if (row.last > upTo || (thread.first > before && length > trimLengthMax)) break
      thread.first = row.last + 1
    }
    if (thread.first > before) this.#connection.run(deleteFront, thread.n, thread.first - 1)
    return thread.first - before
  }

  /** Given the bytes that the pieces are places in. */
  flush(bytes: Uint8Array): void {
    for (const thread of this.#used) {
      this.#writeChunks(thread, bytes)
      this.#writeRow(thread)
    }
    this.#used.clear()
    if (this.#known.size > knownCountMax) this.forget()
  }

  /** Forgets what is known, which a transaction that failed, or another connection, may have made wrong. */
  forget(): void {
    this.#known.clear()
    this.#used.clear()
    this.#next = undefined
  }

  #writeChunks({ n, head, at, pieces }: KnownThread, bytes: Uint8Array): void {
    let first = head + 1 - eventCount(pieces)
    let from = 0
    for (const count of chunkCounts(pieces.map((piece) => piece.bytes))) {
      const chunk = pieces.slice(from, from + count)
      const next = first + eventCount(chunk)
      this.#connection.run(insertChunk, n, first, next - 1, at, bodyOf(chunk, bytes))
      first = next
      from += count
    }
  }

  #writeRow(thread: KnownThread): void {
    const { n, key, first, head, rev, wakes, at, stored } = thread
    thread.pieces = []
    if (!stored) {
      this.#connection.run(insertThread, n, key, principalOf(key), first, head, rev, wakes, at)
    } else {
      // A trim that found nothing to remove has nothing to write either, and needs no fsync.
      const isAsStored = rev === stored.rev && head === stored.head && first === stored.first && wakes === stored.wakes
      if (isAsStored) return
      const count = this.#connection.run(updateThread, first, head, rev, wakes, at, n, stored.head, stored.rev)
      invariant(count === 1, `thread ${n} is at head ${stored.head} and revision ${stored.rev}`)
    }
    thread.stored = { n, first, head, rev, wakes, at }
  }

  #make(key: ThreadKey, now: number): KnownThread {
    const n = this.#next ?? (this.#connection.get<{ n: number | null }>(selectHighest)?.n ?? 0) + 1
    this.#next = n + 1
    return this.#keep({ n, key, first: 1, head: 0, rev: 0, wakes: 0, at: now, stored: undefined, pieces: [] })
  }

  #keep(thread: KnownThread): KnownThread {
    this.#known.set(thread.key, thread)
    return thread
  }
}

// Six rows of this length fill a page of 4 KiB. Longer rows that share pages leave more of each empty.
const shortChunkLengthMax = 640
// From here on a row has pages of its own, which it fills.
const longChunkLengthMin = 12_288
// A reader that wants the last event of a row reads all of it.
const longChunkLengthMax = 65_536

/** How many pieces of these lengths go into each row: one row if they are few or many, else rows that pack well. */
export function chunkCounts(lengths: readonly number[]): number[] {
  const length = lengths.reduce((sum, piece) => sum + piece, 0)
  const lengthMax = length < longChunkLengthMin ? shortChunkLengthMax : longChunkLengthMax
  const counts: number[] = []
  let count = 0
  let filled = 0
  for (const piece of lengths) {
    // The line feed behind the last piece of a row is left out of it.
    if (count > 0 && filled + piece - 1 > lengthMax) {
      counts.push(count)
      count = 0
      filled = 0
    }
    count += 1
    filled += piece
  }
  if (count > 0) counts.push(count)
  return counts
}

function eventCount(pieces: readonly Piece[]): number {
  return pieces.reduce((sum, { events }) => sum + events, 0)
}

/** Its lines, with a line feed between any two. Other threads may have had a turn between its pieces. */
function bodyOf(pieces: readonly PlacedPiece[], bytes: Uint8Array): Uint8Array {
  const length = pieces.reduce((sum, piece) => sum + piece.bytes, 0)
  const [first] = pieces
  const last = pieces.at(-1)
  if (!first || !last) return new Uint8Array()
  const end = last.from + last.bytes
  if (end - first.from === length) return bytes.subarray(first.from, end - 1)
  return Buffer.concat(pieces.map(({ from, bytes: count }) => bytes.subarray(from, from + count))).subarray(0, -1)
}
