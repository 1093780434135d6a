import { type Principal, principalOf, type ThreadKey } from '../../core/id.ts'
import type { TaskRecord } from '../../core/task.ts'
import type { ClaimQuery, Offer, TaskRef } from '../store.ts'
import type { Leases } from './leases.ts'
import { byOrdinal, everybody, type Tables, type TaskRow } from './tables.ts'

export function offer(tables: Tables, leases: Leases, query: ClaimQuery): Offer {
  const { ready, leased } = tables.changing
  const starts = [...new Set(query.agents)].map((agent) => ready.group(agent))
  const abandoned = [...leased.groups()].filter(([node]) => !leases.isHeld(node))
  const orphans = abandoned.map(([, rows]) => rows.filter(({ record }) => canServe(record, query.agents)))
  return {
    starts: oldest(starts, query.starts),
    orphans: oldest(orphans, query.orphans),
    ...(query.withCounts && { counts: { ...count(tables, query.agents), nodes: leases.heldCount } }),
  }
}

function canServe(orphan: TaskRecord, agents: readonly string[]): boolean {
  if (orphan.closure || orphan.cancelRequestedAt !== undefined) return true
  return orphan.agent !== undefined && agents.includes(orphan.agent)
}

/** Each group is in order, so its first `limit` rows are all that can be among the oldest of the whole. */
function oldest(groups: readonly (readonly TaskRow[])[], limit: number): TaskRef[] {
  const rows = groups.flatMap((rows) => rows.slice(0, limit)).sort(byOrdinal)
  return rows.slice(0, limit).map(({ record }) => ({ id: record.id, key: record.key }))
}

function count(tables: Tables, agents: readonly string[]): Omit<NonNullable<Offer['counts']>, 'nodes'> {
  const { live, pending, ready, owed } = tables.changing
  const foreign = [...ready.groups()].filter(([agent]) => !agents.includes(agent))
  return {
    pending: pending.group('pending').length,
    unclaimable: foreign.reduce((sum, [, rows]) => sum + rows.length, 0),
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
