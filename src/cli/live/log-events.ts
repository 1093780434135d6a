import { type AttachItem, type Client, isHoldfastError, isTerminal, type ThreadEvent } from '../../client/index.ts'
import type { LogTarget } from './log-target.ts'
import type { Subtree } from './subtree.ts'

export interface LogOptions extends LogTarget {
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
export async function* loggedEvents(client: Client, options: LogOptions): AsyncGenerator<ThreadEvent, undefined> {
  const { signal, thread } = options
  let after = await startOf(client, options)
  for (;;) {
    const page = await client.events(thread, { ...filterOf(options), after, limit: pageMax, signal })
    for (const event of page.events) if (isWanted(options, event)) yield event
    after = page.next
    if (page.next >= page.head) return
  }
}

/** The same, and what comes: each number once and in order, over as many connections as it takes; ends with the task. */
export async function* followedEvents(client: Client, options: LogOptions): AsyncGenerator<ThreadEvent, undefined> {
  const { thread, signal, subtree, task } = options
  const after = await startOf(client, options)
  // Its end is not kept, and would be waited for without end.
  if (subtree && task && isTerminal(task.status) && task.seq <= after) return
  for await (const item of client.thread(thread).attach({ ...filterOf(options), after, signal })) {
    if (item.type === 'snapshot') subtree?.sees(item.tasks)
    if (isEvent(item) && isWanted(options, item)) yield item
    if (subtree?.isOver) return
  }
}

/** The tree of a task cannot be asked for, so it is picked out of the whole log. */
function filterOf({ task, types, subtree }: LogOptions): {
  readonly task?: string
  readonly types?: readonly string[]
} {
  if (subtree) return {}
  return { ...(task && { task: task.id }), ...(types && { types }) }
}

/** With a task the server sends its end whatever types are asked for. */
function isWanted({ types, subtree, after = 0 }: LogOptions, event: ThreadEvent): boolean {
  const isMember = subtree?.takes(event) ?? true
  return isMember && event.seq > after && (types?.includes(event.type) ?? true)
}

/**
 * The number to begin after. A tree is known only to who has read from where its root was accepted; and where the beginning
 * of a log was deleted, what is left of it is meant, unless somebody asked for a number.
 */
async function startOf(client: Client, { thread, task, after, subtree, signal, onGap }: LogOptions): Promise<number> {
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
