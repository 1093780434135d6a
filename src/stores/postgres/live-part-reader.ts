import type { ThreadKey } from '../../core/id.ts'
import type { LivePart } from '../../core/live-part.ts'
import { afterMs } from './clock.ts'
import type { Connection } from './connection.ts'
import { type LeftOut, leftOutOf, readLeftOut, readLivePart, toLivePart } from './live-part-reads.ts'

type Use = <Result>(work: (connection: Connection) => Promise<Result>) => Promise<Result>
type Texts = ReadonlyMap<string, string>

// Read by one statement, but for one text that is longer: little enough for a slow server, and for whoever waits for the connection.
const statementBytesMax = 4 * 1_048_576
// Of threads that were read before the last one. That one is known whole, because it may be the one that is read all the time.
const knownLengthMax = 64 * 1_048_576
const knownMs = 30_000

/**
 * Reads live parts, however much they hold.
 *
 * P1 What a live part holds beyond what one statement is to read is read after it, some at a time. It never changes, so the whole is
 *    still of the moment of the first statement; if some of it is gone by then, all is read anew.
 * P2 What was read so is known for a while: a thread in which other nodes work is read after each change, and most of it is as it was.
 */
export class LivePartReader {
  readonly #use: Use
  readonly #timeoutMs: number
  readonly #known = new Map<ThreadKey, Texts>()
  #stop: () => void = () => {}

  constructor(use: Use, timeoutMs: number) {
    this.#use = use
    this.#timeoutMs = timeoutMs
  }

  async read(key: ThreadKey): Promise<LivePart | undefined> {
    for (;;) {
      const row = await this.#use((connection) => readLivePart(connection, key, this.#timeoutMs))
      if (!row) return undefined
      const texts = await this.#textsOf(key, row.thread, leftOutOf(row))
      if (texts) return toLivePart(key, row, texts)
    }
  }

  forget(): void {
    this.#stop()
    this.#known.clear()
  }

  /** By name; undefined if one of them is gone. */
  async #textsOf(key: ThreadKey, thread: number, leftOut: readonly LeftOut[]): Promise<Texts | undefined> {
    const known = this.#known.get(key)
    const texts = new Map(
      leftOut.flatMap(({ name }) => {
        const text = known?.get(name)
        return text === undefined ? [] : [[name, text]]
      }),
    )
    for (const group of groupsOf(leftOut.filter(({ name }) => !texts.has(name)))) {
      const read = await this.#use((connection) => readLeftOut(connection, thread, group, this.#timeoutMs))
      for (const [name, text] of read) texts.set(name, text)
    }
    this.#remember(key, texts)
    return texts.size === leftOut.length ? texts : undefined
  }

  #remember(key: ThreadKey, texts: Texts): void {
    this.#known.delete(key)
    if (texts.size === 0) return
    let length = [...this.#known.values()].reduce((sum, others) => sum + lengthOf(others), 0)
    for (const [other, others] of this.#known) {
      if (length <= knownLengthMax) break
      length -= lengthOf(others)
      this.#known.delete(other)
    }
    this.#known.set(key, texts)
    this.#stop()
    this.#stop = afterMs(knownMs, () => this.forget())
  }
}

function lengthOf(texts: Texts): number {
  return [...texts.values()].reduce((sum, text) => sum + text.length, 0)
}

/** What is read together. */
function groupsOf(leftOut: readonly LeftOut[]): LeftOut[][] {
  const groups: LeftOut[][] = []
  let bytes = 0
  for (const each of leftOut) {
    const group = groups.at(-1)
    if (group && bytes + each.bytes <= statementBytesMax) {
      group.push(each)
      bytes += each.bytes
    } else {
      groups.push([each])
      bytes = each.bytes
    }
  }
  return groups
}
