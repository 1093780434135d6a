import { type AttachItem, type Client, isHoldfastError, type ThreadEvent } from '../../client/index.ts'
import type { LogPlace } from './log-place.ts'
import type { Subtree } from './subtree.ts'

export interface LogWish extends LogPlace {
  /** Begins after this number; with the first that is kept, unless given. */
  readonly after?: number | undefined
  readonly types?: readonly string[] | undefined
  /** With what was spawned under the task. */
  readonly subtree?: Subtree | undefined
  readonly signal: AbortSignal
  /** Is told that the beginning is not there any more. */
  readonly onGap: (message: string) => void
}

const pageMax = 1000

export function isEvent(item: AttachItem): item is ThreadEvent {
  return 'seq' in item
}

/** What is in a log now. */
export async function* loggedEvents(client: Client, wish: LogWish): AsyncGenerator<ThreadEvent, undefined> {
  const { signal, thread } = wish
  let after = await startOf(client, wish)
  for (;;) {
    const page = await client.events(thread, { ...filterOf(wish), after, limit: pageMax, signal })
    for (const event of page.events) if (isWanted(wish, event)) yield event
    after = page.next
    if (page.next >= page.head) return
  }
}

/** The same, and what comes: each number once and in order, over as many connections as it takes; ends with the task. */
export async function* followedEvents(client: Client, wish: LogWish): AsyncGenerator<ThreadEvent, undefined> {
  const { thread, signal, subtree } = wish
  const after = await startOf(client, wish)
  for await (const item of client.thread(thread).attach({ ...filterOf(wish), after, signal })) {
    if (!isEvent(item)) continue
    if (isWanted(wish, item)) yield item
    if (subtree?.isOver) return
  }
}

/** The tree of a task cannot be asked for, so it is picked out of the whole log. */
function filterOf({ task, types, subtree }: LogWish): { readonly task?: string; readonly types?: readonly string[] } {
  if (subtree) return {}
  return { ...(task && { task: task.id }), ...(types && { types }) }
}

/** With a task the server sends its end whatever types are asked for. */
function isWanted({ types, subtree, after = 0 }: LogWish, event: ThreadEvent): boolean {
  const isMember = subtree?.takes(event) ?? true
  return isMember && event.seq > after && (types?.includes(event.type) ?? true)
}

/**
 * The number to begin after. A tree is known only to who has read from where its root was accepted; and where the beginning
 * of a log was deleted, what is left of it is meant, unless somebody asked for a number.
 */
async function startOf(client: Client, { thread, task, after, subtree, signal, onGap }: LogWish): Promise<number> {
  if (after !== undefined && !subtree) return after
  try {
    const filter = task && { task: task.id }
    const { events } = await client.events(thread, { ...filter, after: 0, limit: 1, signal })
    return Math.max(0, (events[0]?.seq ?? 1) - 1)
  } catch (error) {
    if (!isHoldfastError(error, 'offset_gone')) throw error
    const first = Number(error.facts['first'])
    onGap(`The log begins at ${first}; what was before is deleted`)
    return first - 1
  }
}
