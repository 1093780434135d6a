import { HoldfastError, isHoldfastError } from '../client/index.ts'

/** Names what is not there: the server, which does not say whose it is, does not repeat the id. */
export async function naming<Value>(kind: 'task' | 'question', id: string, asked: Promise<Value>): Promise<Value> {
  try {
    return await asked
  } catch (error) {
    if (!isHoldfastError(error, 'not_found')) throw error
    throw new HoldfastError('not_found', `There is no ${kind} ${id}`, { cause: error, facts: { ...error.facts, kind } })
  }
}
