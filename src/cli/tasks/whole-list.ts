import type { Client, ListOptions, Task } from '../../client/index.ts'

interface Page<Item> {
  readonly items: readonly Item[]
  readonly cursor: string | undefined
}

// The most that a server gives at once.
const pageMax = 1000

/** Follows the cursors of a list until it is whole, or has as many as are wanted. */
export async function wholeList<Item>(
  read: (page: { readonly limit: number; readonly cursor?: string }) => Promise<Page<Item>>,
  wanted: number = Number.POSITIVE_INFINITY,
): Promise<readonly Item[]> {
  const found: Item[] = []
  let cursor: string | undefined
  do {
    const limit = Math.min(pageMax, wanted - found.length)
    const page = await read({ limit, ...(cursor !== undefined && { cursor }) })
    found.push(...page.items)
    cursor = page.cursor
  } while (cursor !== undefined && found.length < wanted)
  return found
}

/** All tasks that pass the filter, newest first. */
export function allTasks(
  client: Client,
  filter: Omit<ListOptions, 'cursor' | 'limit'>,
  wanted?: number,
): Promise<readonly Task[]> {
  return wholeList(async (page) => {
    const { tasks, cursor } = await client.list({ ...filter, ...page })
    return { items: tasks, cursor }
  }, wanted)
}
