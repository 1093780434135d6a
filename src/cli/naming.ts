import { type Client, HoldfastError, isHoldfastError, type Task } from '../client/index.ts'

/** The task of an id; of one that is a thread's it says so. */
export async function namedTask(client: Client, id: string, signal: AbortSignal): Promise<Task> {
  try {
    return await naming('task', id, client.get(id, { signal }))
  } catch (error) {
    const isOther = isHoldfastError(error, 'not_found') && (await isThread(client, id, signal).catch(() => false))
    if (!isOther) throw error
    const facts = { ...error.facts, kind: 'thread', thread: id }
    throw new HoldfastError('not_found', `${id} is a thread, not a task`, { cause: error, facts })
  }
}

/** Whether something ever was in a thread of this id. */
export async function isThread(client: Client, id: string, signal: AbortSignal): Promise<boolean> {
  const { head } = await client.events(id, { limit: 1, signal }).catch((error: unknown) => {
    // Its first numbers were deleted, so it is there.
    if (isHoldfastError(error, 'offset_gone')) return { head: 1 }
    throw error
  })
  return head > 0
}

/** Names what is not there: the server, which does not say whose it is, does not repeat the id. */
export async function naming<Value>(kind: 'task' | 'question', id: string, asked: Promise<Value>): Promise<Value> {
  try {
    return await asked
  } catch (error) {
    if (!isHoldfastError(error, 'not_found')) throw error
    throw new HoldfastError('not_found', `There is no ${kind} ${id}`, { cause: error, facts: { ...error.facts, kind } })
  }
}
