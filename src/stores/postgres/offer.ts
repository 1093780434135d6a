import type { Principal, TaskId, ThreadKey } from '../../core/id.ts'
import type { ClaimQuery, Offer, TaskRef } from '../claim.ts'
import { claimStatements, limitedClaimStatements, strayStatement } from './claim-statement.ts'
import { fromColumn, toColumn } from './column-text.ts'
import type { Connection } from './connection.ts'

interface OfferRow {
  readonly now: number
  readonly starts: readonly RefRow[]
  readonly orphans: readonly RefRow[]
  readonly isPartial: boolean
  readonly hasLeft: boolean
  readonly elsewhere?: Readonly<Record<string, number>>
  readonly open?: readonly OpenRow[]
  readonly unclaimable?: number
  readonly owed?: number
  readonly nodes?: number
  readonly bytes?: number
}

interface RefRow {
  readonly id: TaskId
  readonly key: ThreadKey
  readonly agent: string | null
}

interface OpenRow {
  readonly status: string
  readonly principal: Principal
  readonly count: number
}

// Longer than any look for work takes; without an answer by then the network has lost it.
const answerMs = 10_000

/** `now` is the clock of a store that was given one; the answer says what the clock was. */
export async function readOffer(
  connection: Connection,
  query: ClaimQuery,
  now: number | undefined,
): Promise<{ readonly offer: Offer; readonly now: number }> {
  const [row] = await connection.query<OfferRow>({
    ...statementOf(query),
    values: valuesOf(query, now),
    timeoutMs: answerMs,
  })
  if (!row) throw new Error('The claim was not answered')
  const offer = {
    starts: row.starts.map(toRef),
    orphans: row.orphans.map(toRef),
    ...(row.isPartial && { isPartial: true as const }),
    ...(row.hasLeft && { hasLeft: true as const }),
    ...(row.elsewhere && {
      elsewhere: new Map(Object.entries(row.elsewhere).map(([a, count]) => [fromColumn(a), count])),
    }),
    ...(query.withCounts && { counts: countsOf(row) }),
  }
  return { offer, now: row.now }
}

function statementOf(query: ClaimQuery): { readonly name: string; readonly sql: string } {
  const { executing, withCounts, withBytes, limits } = query
  if (executing) return strayStatement
  const statements = limits ? limitedClaimStatements : claimStatements
  if (!withCounts) return statements.plain
  return withBytes ? statements.bytes : statements.counts
}

function valuesOf(query: ClaimQuery, now: number | undefined): readonly unknown[] {
  const { executing, except = [], exceptTasks = [], own } = query
  const node = toColumn(query.node)
  if (executing) return [node, executing.map(toColumn), query.orphans, now ?? null]
  const agents = [...new Set(query.agents)].map(toColumn)
  const common = [agents, query.starts, query.orphans, now ?? null, node, except]
  return [...common, exceptTasks.map(toColumn), ...(limitsOf(query) ?? [own?.map(toColumn) ?? null])]
}

/** The agents that have a limit, their limits, and how many of their tasks this node executes. */
function limitsOf({ limits }: ClaimQuery): readonly unknown[] | undefined {
  if (!limits) return undefined
  const limited = [...limits.values()]
  return [[...limits.keys()].map(toColumn), limited.map(({ max }) => max), limited.map(({ executing }) => executing)]
}

function countsOf({ open = [], unclaimable = 0, owed = 0, nodes = 0, bytes }: OfferRow): NonNullable<Offer['counts']> {
  const pending = open.reduce((sum, { status, count }) => (status === 'pending' ? sum + count : sum), 0)
  const openByPrincipal = new Map<Principal, number>()
  for (const { principal, count } of open) openByPrincipal.set(principal, (openByPrincipal.get(principal) ?? 0) + count)
  return { pending, unclaimable, openByPrincipal, owedHooks: owed, nodes, ...(bytes !== undefined && { bytes }) }
}

function toRef({ id, key, agent }: RefRow): TaskRef {
  return { id: fromColumn(id), key, ...(agent !== null && { agent: fromColumn(agent) }) }
}
