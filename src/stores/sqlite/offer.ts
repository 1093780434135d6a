import type { Principal, TaskId, ThreadKey } from '../../core/id.ts'
import type { Status } from '../../core/status.ts'
import type { ClaimQuery, Offer, TaskRef } from '../claim.ts'
import type { Connection } from './connection.ts'

const selectStartable = `
  SELECT t.n, t.id, th.key, t.agent FROM tasks t INDEXED BY tasks_startable CROSS JOIN threads th ON th.n = t.thread
  WHERE t.startable AND t.agent = ?1 AND th.key NOT IN (SELECT value FROM json_each(?2))
  ORDER BY t.n LIMIT ?3`

// `isOver` of core: whoever takes it over only ends it. Asked of what a node left behind, so it needs no index. `?1` is now.
const isOver = `(
    t.closure OR t.cancel_requested_at IS NOT NULL OR (
      t.started_at + json_extract(t.doc, '$.timeoutMs') + coalesce(json_extract(t.doc, '$.waitedMs'), 0) <= ?1
      AND json_extract(t.doc, '$.waitingSince') IS NULL
    ) IS TRUE
  )`

// With the agent of those that go on.
const selectHeld = `
  SELECT t.n, t.id, th.key, CASE WHEN NOT ${isOver} THEN t.agent END AS agent
  FROM tasks t INDEXED BY tasks_held CROSS JOIN threads th ON th.n = t.thread
  WHERE t.held AND t.node = ?2 AND (t.agent IN (SELECT value FROM json_each(?3)) OR ${isOver})
    AND th.key NOT IN (SELECT value FROM json_each(?4)) AND t.id NOT IN (SELECT value FROM json_each(?5))
  ORDER BY t.n LIMIT ?6`

// What a node has lost: it is executed under its lease, and not by it.
const selectStrays = `
  SELECT t.n, t.id, th.key, t.agent FROM tasks t INDEXED BY tasks_held CROSS JOIN threads th ON th.n = t.thread
  WHERE t.held AND t.node = ?1 AND t.id NOT IN (SELECT value FROM json_each(?2))
  ORDER BY t.n LIMIT ?3`

// Leaps from node to node, however many tasks each holds.
const selectHolders = `
  WITH RECURSIVE holders (node) AS (
    SELECT min(node) FROM tasks INDEXED BY tasks_held WHERE held
    UNION ALL
    SELECT (SELECT min(t.node) FROM tasks t INDEXED BY tasks_held WHERE t.held AND t.node > holders.node)
    FROM holders WHERE node IS NOT NULL
  )
  SELECT node FROM holders WHERE node IS NOT NULL`

// In the order of the index, so that nothing is sorted.
const countOpen = `
  SELECT status, principal, count(*) AS count FROM tasks INDEXED BY tasks_of_principal
  WHERE status IN ('pending', 'running') GROUP BY status, principal`

// Leaps from agent to agent, so that a long queue of agents that are known costs nothing.
const selectQueued = `
  WITH RECURSIVE queued (agent) AS (
    SELECT min(agent) FROM tasks INDEXED BY tasks_startable WHERE startable
    UNION ALL
    SELECT (SELECT min(t.agent) FROM tasks t INDEXED BY tasks_startable WHERE t.startable AND t.agent > queued.agent)
    FROM queued WHERE agent IS NOT NULL
  )
  SELECT agent FROM queued`

const countQueued = `
  SELECT count(*) AS count FROM tasks INDEXED BY tasks_startable WHERE startable AND agent IS ?`

const countStranded = `
  SELECT count(*) AS count FROM tasks t INDEXED BY tasks_held
  WHERE t.held AND t.node = ?2 AND (t.agent IS NULL OR t.agent NOT IN (SELECT value FROM json_each(?3))) AND NOT ${isOver}`

const countOwed = 'SELECT count(*) AS count FROM tasks INDEXED BY tasks_owed WHERE hook_at IS NOT NULL'

const countBytes = 'SELECT page_count * page_size AS bytes FROM pragma_page_count, pragma_page_size'

interface RefRow {
  readonly n: number
  readonly id: TaskId
  readonly key: ThreadKey
  readonly agent: string | null
}

interface OpenRow {
  readonly status: Status
  readonly principal: Principal
  readonly count: number
}

/** `leaseHolders` are the nodes that hold a lease now. */
export function readOffer(
  connection: Connection,
  leaseHolders: readonly string[],
  query: ClaimQuery,
  now: number,
): Offer {
  if (query.executing) return strays(connection, query, query.executing)
  const agents = [...new Set(query.agents)]
  const except = JSON.stringify(query.except ?? [])
  const exceptTasks = JSON.stringify(query.exceptTasks ?? [])
  const nodes = connection.all<{ node: string }>(selectHolders).filter(({ node }) => !leaseHolders.includes(node))
  const starts = agents.flatMap((agent) =>
    connection.all<RefRow>(selectStartable, agent, except, Math.min(query.starts, roomFor(agent, query))),
  )
  const known = JSON.stringify(agents.filter((agent) => roomFor(agent, query) > 0))
  const orphans = nodes.flatMap(({ node }) =>
    connection.all<RefRow>(selectHeld, now, node, known, except, exceptTasks, query.orphans),
  )
  return {
    starts: oldest(starts, query.starts),
    orphans: oldest(orphans, query.orphans),
    ...(query.withCounts && { counts: { ...readCounts(connection, agents, nodes, now), nodes: leaseHolders.length } }),
  }
}

function strays(connection: Connection, { node, orphans }: ClaimQuery, executing: readonly TaskId[]): Offer {
  const rows = connection.all<RefRow>(selectStrays, node, JSON.stringify(executing), orphans)
  return { starts: [], orphans: oldest(rows, orphans) }
}

type Counts = NonNullable<Offer['counts']>

function readCounts(
  connection: Connection,
  agents: readonly string[],
  goneNodes: readonly { readonly node: string }[],
  now: number,
): Omit<Counts, 'nodes'> {
  const open = connection.all<OpenRow>(countOpen)
  const pending = open.reduce((sum, { status, count }) => (status === 'pending' ? sum + count : sum), 0)
  const openByPrincipal = new Map<Principal, number>()
  for (const { principal, count } of open) openByPrincipal.set(principal, (openByPrincipal.get(principal) ?? 0) + count)
  const stranded = goneNodes.map(({ node }) => countOf(connection, countStranded, now, node, JSON.stringify(agents)))
  const unclaimable = [countForeign(connection, agents), ...stranded].reduce((sum, count) => sum + count)
  const owedHooks = countOf(connection, countOwed)
  const bytes = connection.get<{ bytes: number }>(countBytes)?.bytes ?? 0
  return { pending, unclaimable, openByPrincipal, owedHooks, bytes }
}

/** What may start and is of none of the agents. The leaps end with null, which stands for tasks without an agent. */
function countForeign(connection: Connection, agents: readonly string[]): number {
  const queued = connection.all<{ agent: string | null }>(selectQueued)
  const foreign = queued.filter(({ agent }) => agent === null || !agents.includes(agent))
  return foreign.reduce((sum, { agent }) => sum + countOf(connection, countQueued, agent), 0)
}

function countOf(connection: Connection, sql: string, ...values: (string | number | null)[]): number {
  return connection.get<{ count: number }>(sql, ...values)?.count ?? 0
}

function oldest(rows: readonly RefRow[], limit: number): TaskRef[] {
  const sorted = rows.toSorted((a, b) => a.n - b.n).slice(0, limit)
  return sorted.map(({ id, key, agent }) => ({ id, key, ...(agent !== null && { agent }) }))
}

function roomFor(agent: string, { limits }: ClaimQuery): number {
  const limit = limits?.get(agent)
  return limit ? Math.max(0, limit.max - limit.executing) : Number.POSITIVE_INFINITY
}
