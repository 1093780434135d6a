import { type EventDraft, encodeLine } from '../../core/event.ts'
import { principalOf, type ThreadKey } from '../../core/id.ts'
import type { Connection } from './connection.ts'

/** A thread as a batch has left it so far. */
export interface ThreadState {
  readonly n: number
  head: number
  rev: number
  wakes: number
  at: number
  /** Encoded events that wait for `flush`; the last of them has the number `head`. */
  lines: string[]
  /** Whether a unit of it was taken, so that `flush` has something to write. */
  isUsed: boolean
}

type ThreadRow = Omit<ThreadState, 'lines' | 'isUsed'>

const selectThread = 'SELECT n, head, rev, wakes, at FROM threads WHERE key = ?'

const insertThread = `
  INSERT INTO threads (key, principal, first, head, rev, wakes, at) VALUES (?, ?, 1, 0, 0, 0, ?)`

const updateThread = 'UPDATE threads SET head = ?, rev = ?, wakes = ?, at = ? WHERE n = ?'

const insertChunk = 'INSERT INTO chunks (thread, first, last, at, body) VALUES (?, ?, ?, ?, ?)'

/** The threads that a batch touches. Their rows and chunks are written once, at its end. */
export class ThreadWrites {
  readonly #connection: Connection
  readonly #states = new Map<ThreadKey, ThreadState>()

  constructor(connection: Connection) {
    this.#connection = connection
  }

  find(key: ThreadKey): ThreadState | undefined {
    const known = this.#states.get(key)
    if (known) return known
    const row = this.#connection.get<ThreadRow>(selectThread, key)
    return row && this.#keep(key, row)
  }

  /** The thread, made if it was never used. */
  use(key: ThreadKey, now: number): ThreadState {
    const thread = this.find(key) ?? this.#insert(key, now)
    thread.isUsed = true
    return thread
  }

  append(thread: ThreadState, events: readonly EventDraft[], at: number): void {
    if (events.length === 0) return
    for (const event of events) thread.lines.push(encodeLine(event))
    thread.head += events.length
    thread.at = at
  }

  flush(): void {
    for (const thread of this.#states.values()) {
      if (!thread.isUsed) continue
      this.#writeChunks(thread)
      this.#connection.run(updateThread, thread.head, thread.rev, thread.wakes, thread.at, thread.n)
    }
  }

  #writeChunks({ n, head, at, lines }: ThreadState): void {
    let from = 0
    for (const count of chunkCounts(lines)) {
      const first = head - lines.length + 1 + from
      const body = lines.slice(from, from + count).join('\n')
      this.#connection.run(insertChunk, n, first, first + count - 1, at, body)
      from += count
    }
  }

  #insert(key: ThreadKey, now: number): ThreadState {
    const { lastInsertRowid } = this.#connection.prepare(insertThread).run(key, principalOf(key), now)
    return this.#keep(key, { n: Number(lastInsertRowid), head: 0, rev: 0, wakes: 0, at: now })
  }

  #keep(key: ThreadKey, row: ThreadRow): ThreadState {
    const state = { ...row, lines: [], isUsed: false }
    this.#states.set(key, state)
    return state
  }
}

// Four rows of this length fill a page of 8 KiB. Longer rows that share pages leave up to half of each empty.
const shortChunkLengthMax = 1_980
// From here on a row has pages of its own, which it fills.
const longChunkLengthMin = 24_576
// A reader that wants the last event of a row reads all of it.
const longChunkLengthMax = 65_536

/** How many lines go into each row: one row if they are few or many, else rows that pack well. */
export function chunkCounts(lines: readonly string[]): number[] {
  const length = lines.reduce((sum, line) => sum + line.length + 1, 0)
  const lengthMax = length < longChunkLengthMin ? shortChunkLengthMax : longChunkLengthMax
  const counts: number[] = []
  let count = 0
  let filled = 0
  for (const line of lines) {
    if (count > 0 && filled + line.length > lengthMax) {
      counts.push(count)
      count = 0
      filled = 0
    }
    count += 1
    filled += line.length + 1
  }
  if (count > 0) counts.push(count)
  return counts
}
