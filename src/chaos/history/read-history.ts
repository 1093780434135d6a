import { createReadStream } from 'node:fs'
import { createInterface } from 'node:readline'
import { type Case, caseOf } from './case.ts'
import type { HistoryEntry } from './entry.ts'

/** The rounds of a history file, one after the other, so that a long history is never in memory as a whole. */
export async function* readHistory(path: string): AsyncGenerator<Case> {
  let entries: HistoryEntry[] = []
  for await (const line of createInterface({ input: createReadStream(path), crlfDelay: Number.POSITIVE_INFINITY })) {
    const entry = parse(line)
    if (!entry) continue
    if (entry.kind === 'round' && entries.length > 0) {
      yield caseOf(entries)
      entries = []
    }
    entries.push(entry)
  }
  if (entries.length > 0) yield caseOf(entries)
}

function parse(line: string): HistoryEntry | undefined {
  try {
    return JSON.parse(line) as HistoryEntry
  } catch {
    // Only the last line can be torn, of a program that was ended in the middle.
    return undefined
  }
}
