import type { Message } from 'holdfast/client'

interface Page {
  readonly messages: readonly Message[]
  readonly cursor?: number
}

/** Reads the conversation after a number. */
export type ReadMessages = (after: number) => Promise<Page>

export interface Older {
  readonly messages: readonly Message[]
  /** There is nothing before them. */
  readonly isAll: boolean
}

// The route reads forward only. A screen of messages is mostly within so many events; where it is not, the stretch grows.
const stretchFirst = 1000
const countWanted = 30

/** The messages before a number, at least a screen of them unless there are no more. */
export async function olderMessages(read: ReadMessages, before: number): Promise<Older> {
  for (let stretch = stretchFirst; ; stretch *= 4) {
    const after = Math.max(0, before - 1 - stretch)
    const messages = await between(read, after, before)
    if (after === 0) return { messages, isAll: true }
    if (messages.length >= countWanted) return { messages, isAll: false }
  }
}

async function between(read: ReadMessages, after: number, before: number): Promise<Message[]> {
  const found: Message[] = []
  for (let from: number | undefined = after; from !== undefined; ) {
    const page: Page = await read(from)
    found.push(...page.messages.filter(({ seq }) => seq < before))
    const last = page.messages.at(-1)?.seq ?? before
    from = last >= before - 1 ? undefined : page.cursor
  }
  return found
}

// A snapshot has so many messages, or fewer where they are large.
const snapshotCount = 100
// Before the first message of a thread are mostly the acceptance and the start of its run.
const firstSeq = 3

/** Whether there may be messages before these. If there are none after all, the first look for them tells. */
export function mayHaveOlder(messages: readonly Message[]): boolean {
  const first = messages[0]
  return first !== undefined && (messages.length >= snapshotCount || first.seq > firstSeq)
}

/**
 * What is known of a conversation after the live part of it has changed. A snapshot holds its end only: what was read
 * before it stays, unless there is a hole between the two that nobody can fill. Of a thread that was deleted nothing is left,
 * so what comes after that has a hole before it.
 */
export function joined(known: readonly Message[], recent: readonly Message[]): readonly Message[] {
  const first = recent[0]
  if (!first) return recent
  const earlier = known.filter(({ seq }) => seq < first.seq)
  const hasHole = earlier.length === known.length
  return earlier.length === 0 || hasHole ? recent : [...earlier, ...recent]
}
