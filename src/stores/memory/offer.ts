import { type Principal, principalOf, type TaskId, type ThreadKey } from '../../core/id.ts'
import { isOver } from '../../core/recover.ts'
import type { TaskRecord } from '../../core/task.ts'
import type { ClaimQuery, Offer, TaskRef } from '../claim.ts'
import type { Leases } from './leases.ts'
import { byOrdinal, everybody, type Tables, type TaskRow } from './tables.ts'

export function offer(tables: Tables, leases: Leases, query: ClaimQuery, now: number): Offer {
  const { ready, leased } = tables.changing
  if (query.executing) return strays(leased.group(query.node), query.executing, query.orphans)
  const { except, exceptTasks } = query
  const isAskedFor = ({ record }: TaskRow) => !except?.includes(record.key)
  const startable = (agent: string) => {
    const rows = ready.group(agent)
    return (except ? rows.filter(isAskedFor) : rows).slice(0, Math.min(query.starts, roomFor(agent, query)))
  }
  const starts = [...new Set(query.agents)].map(startable)
  const unleased = [...leased.groups()].filter(([node]) => !leases.isHeld(node))
  const served = query.agents.filter((agent) => roomFor(agent, query) > 0)
  const canTake = (row: TaskRow) =>
    isAskedFor(row) && !exceptTasks?.includes(row.record.id) && canServe(row.record, served, now)
  const orphans = unleased.map(([, rows]) => rows.filter(canTake))
  return {
    starts: oldest(starts, query.starts, refOf),
    orphans: oldest(orphans, query.orphans, (record) => (isOver(record, now) ? endedRefOf(record) : refOf(record))),
    ...(query.withCounts && { counts: { ...count(tables, query.agents, unleased, now), nodes: leases.heldCount } }),
  }
}

function strays(rows: readonly TaskRow[], executing: readonly TaskId[], limit: number): Offer {
  const here = new Set(executing)
  return { starts: [], orphans: oldest([rows.filter(({ record }) => !here.has(record.id))], limit, refOf) }
}

function canServe(orphan: TaskRecord, agents: readonly string[], now: number): boolean {
  if (isOver(orphan, now)) return true
  return orphan.agent !== undefined && agents.includes(orphan.agent)
}

/** Each group is in order, so its first `limit` rows are all that can be among the oldest of the whole. */
function oldest(
  groups: readonly (readonly TaskRow[])[],
  limit: number,
  toRef: (record: TaskRecord) => TaskRef,
): TaskRef[] {
  const rows = groups.flatMap((rows) => rows.slice(0, limit)).sort(byOrdinal)
  return rows.slice(0, limit).map(({ record }) => toRef(record))
}

function refOf({ id, key, agent }: TaskRecord): TaskRef {
  return { id, key, ...(agent !== undefined && { agent }) }
}

function endedRefOf({ id, key }: TaskRecord): TaskRef {
  return { id, key }
}

function roomFor(agent: string, { limits }: ClaimQuery): number {
  const limit = limits?.get(agent)
  return limit ? Math.max(0, limit.max - limit.executing) : Number.POSITIVE_INFINITY
}

function count(
  tables: Tables,
  agents: readonly string[],
  unleased: readonly (readonly [string, readonly TaskRow[]])[],
  now: number,
): Omit<NonNullable<Offer['counts']>, 'nodes'> {
  const { live, pending, ready, owed } = tables.changing
  const foreign = [...ready.groups()].filter(([agent]) => !agents.includes(agent)).flatMap(([, rows]) => rows)
  const stranded = unleased.flatMap(([, rows]) => rows.filter(({ record }) => !canServe(record, agents, now)))
  return {
    pending: pending.group('pending').length,
    unclaimable: foreign.length + stranded.length,
    openByPrincipal: countByPrincipal(live.groups()),
    owedHooks: owed.group(everybody).length,
  }
}

function countByPrincipal(threads: Iterable<readonly [string, readonly TaskRow[]]>): Map<Principal, number> {
  const counts = new Map<Principal, number>()
  for (const [key, rows] of threads) {
    const principal = principalOf(key as ThreadKey)
    counts.set(principal, (counts.get(principal) ?? 0) + rows.length)
  }
  return counts
}
