import { principalOf, type ThreadKey, taskId, threadOf } from '../../../src/core/id.ts'
import type { Store, TaskPage, TaskQuery } from '../../../src/stores/store.ts'
import { logOf, offerOf } from '../../../src/testing/store-suite/builders.ts'

/** All that can be read of these threads, in pages small enough to be cut. */
export async function pictureOf(store: Store, keys: readonly ThreadKey[]): Promise<unknown> {
  const threads = await Promise.all(keys.map((key) => threadPicture(store, key)))
  const principals = await Promise.all([...new Set(keys.map(principalOf))].map((who) => principalPicture(store, who)))
  const claim = { node: 'node_9', agents: ['echo'], starts: 5, orphans: 5, withCounts: true }
  const expired = await store.questions({ expiredAt: 30, limit: 3 })
  const owed = await store.tasks({ owedBy: 1_000_000, limit: 5 })
  // A store that several nodes share offers orphans only to one that holds its lease.
  await store.renew(claim.node, 60_000)
  return { threads, principals, expired, owed, offer: await offerOf(store, claim) }
}

async function threadPicture(store: Store, key: ThreadKey): Promise<unknown> {
  const log = await logOf(store, key, 3)
  const ids = [...new Set(log.flatMap((event) => event.task ?? []))]
  const [principal, thread] = [principalOf(key), threadOf(key)]
  return {
    log,
    live: await store.livePart(key),
    snapshot: await store.snapshot(key, { messages: 2, endedTasks: 2 }),
    messages: await store.messages(key, { after: 2, upTo: log.length - 2, limit: 3, fromEnd: true }),
    steps: await Promise.all(ids.map((id) => store.steps(id))),
    questions: await store.questions({ principal, thread }),
    owed: await store.tasks({ key, owedBy: Number.MAX_SAFE_INTEGER, limit: 2 }),
    filtered: await Promise.all(ids.map((id) => filteredLog(store, key, id))),
  }
}

async function filteredLog(store: Store, key: ThreadKey, id: string): Promise<unknown> {
  const record = await store.task(taskId(id))
  const task = { id: taskId(id), first: record?.firstSeq ?? 1, last: record?.seq ?? 0 }
  return (await store.events(key, { after: 0, limit: 1000, task })).events
}

async function principalPicture(store: Store, principal: ReturnType<typeof principalOf>): Promise<unknown> {
  return {
    tasks: await allTasks(store, { principal, limit: 2 }),
    untaken: await allTasks(store, { principal, limit: 2, untaken: true }),
    children: await allTasks(store, { principal, limit: 2, parent: taskId('bg_0') }),
    running: await allTasks(store, { principal, limit: 2, status: ['running'], type: ['run', 'agent'] }),
    questions: await store.questions({ principal }),
    threads: (await store.threads({ principal, limit: 10 })).threads,
  }
}

/** Cursors are a backend's own affair, so only what the pages hold is compared. */
async function allTasks(store: Store, query: TaskQuery): Promise<unknown[]> {
  const tasks: unknown[] = []
  for (let page: TaskPage | undefined; ; ) {
    page = await store.tasks({ ...query, ...(page?.cursor !== undefined && { cursor: page.cursor }) })
    tasks.push(...page.tasks)
    if (page.cursor === undefined) return tasks
  }
}
