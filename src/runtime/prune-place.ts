import { type Principal, type ThreadKey, threadId, threadKey, threadOf } from '../core/id.ts'
import { badCursor } from '../core/list-cursor.ts'

/** Where a prune goes on: on a page of the list of threads, and there at a thread that is not done. */
export interface PrunePlace {
  /** The store's cursor of the page; absent for the first. */
  readonly page?: string
  readonly key?: ThreadKey
  /** As far as that thread goes. What has come since is for another prune: a log that grows would never be done. */
  readonly upTo?: number
}

/** A place among the threads of one principal, as a cursor: `UPTO/THREAD/PAGE`, each empty if it is absent. */
export function cursorOf({ page = '', key, upTo }: PrunePlace): string {
  return `${upTo ?? ''}/${key === undefined ? '' : threadOf(key)}/${page}`
}

/** Whatever a cursor says, it names threads of the principal alone. */
export function placeOf(principal: Principal, cursor: string): PrunePlace {
  const [, upTo, thread, page] = /^([0-9]{0,16})\/([^/]*)\/(.*)$/.exec(cursor) ?? []
  if (page === undefined) throw badCursor()
  return {
    ...(page !== '' && { page }),
    ...(thread && { key: threadKey(principal, threadId(thread)) }),
    ...(upTo && { upTo: Number(upTo) }),
  }
}
