import type { ThreadLine } from '../calls.ts'
import type { ThreadEvent } from '../thread-event.ts'

/** After an event of a thread it is the newest. Its end is known as far as it was told. */
export function threadsAfter(threads: readonly ThreadLine[], event: ThreadEvent): readonly ThreadLine[] {
  const { thread, seq, at } = event
  const known = threads.find((line) => line.thread === thread)
  if (known && known.head >= seq) return threads
  const line: ThreadLine = { first: 1, ...known, thread, head: seq, at }
  return [line, ...threads.filter((other) => other !== known)]
}

/** With the next page of older threads. One that has become newer meanwhile is known. */
export function withOlderThreads(threads: readonly ThreadLine[], page: readonly ThreadLine[]): readonly ThreadLine[] {
  const known = new Set(threads.map(({ thread }) => thread))
  return [...threads, ...page.filter(({ thread }) => !known.has(thread))]
}
