import type { Principal, TaskId, ThreadKey } from '../../core/id.ts'
import type { ClaimQuery, Offer, TaskRef } from '../store.ts'
import { fromColumn, toColumn } from './column-text.ts'
import type { Connection } from './connection.ts'

const isStartable = `t.status = 'pending' AND t.ready AND NOT t.closure`
const isHeld = `(t.status = 'running' OR (t.status = 'pending' AND t.closure))`

const ref = `json_build_object('id', t.id, 'key', th.key)`

const starts = `
  SELECT ${ref} AS ref FROM (
    SELECT t.n, t.id, t.thread FROM unnest($1::text[]) AS a (agent)
    CROSS JOIN LATERAL (
      SELECT t.n, t.id, t.thread FROM holdfast.tasks t WHERE ${isStartable} AND t.agent = a.agent ORDER BY t.n LIMIT $2
    ) t
    ORDER BY t.n LIMIT $2
  ) t JOIN holdfast.threads th ON th.n = t.thread ORDER BY t.n`

// Leaps from node to node, however many tasks each holds.
const holders = `
  WITH RECURSIVE holders (node) AS (
    (SELECT t.node FROM holdfast.tasks t WHERE ${isHeld} ORDER BY t.node LIMIT 1)
    UNION ALL
    SELECT (SELECT t.node FROM holdfast.tasks t WHERE ${isHeld} AND t.node > h.node ORDER BY t.node LIMIT 1)
    FROM holders h WHERE h.node IS NOT NULL
  )
  SELECT h.node FROM holders h
  WHERE h.node IS NOT NULL AND NOT EXISTS (
    SELECT FROM holdfast.nodes l WHERE l.id = h.node AND l.until_at > coalesce($4::bigint, holdfast.clock_ms())
  )`

const orphans = `
  SELECT ${ref} AS ref FROM (
    SELECT t.n, t.id, t.thread FROM (${holders}) AS h (node)
    CROSS JOIN LATERAL (
      SELECT t.n, t.id, t.thread FROM holdfast.tasks t
      WHERE ${isHeld} AND t.node = h.node
        AND (t.closure OR t.cancel_requested_at IS NOT NULL OR t.agent = ANY ($1))
      ORDER BY t.n LIMIT $3
    ) t
    ORDER BY t.n LIMIT $3
  ) t JOIN holdfast.threads th ON th.n = t.thread ORDER BY t.n`

const open = `
  SELECT t.status, t.principal, count(*) AS count FROM holdfast.tasks t
  WHERE t.status IN ('pending', 'running') GROUP BY t.status, t.principal`

const unclaimable = `
  SELECT count(*) FROM holdfast.tasks t WHERE ${isStartable} AND (t.agent IS NULL OR t.agent <> ALL ($1))`

const owed = 'SELECT count(*) FROM holdfast.tasks t WHERE t.hook_at IS NOT NULL'

const selectOffer = (counts: string): string => `
  SELECT coalesce($4::bigint, holdfast.clock_ms()) AS now,
    (SELECT coalesce(json_agg(s.ref), '[]') FROM (${starts}) s) AS starts,
    (SELECT coalesce(json_agg(o.ref), '[]') FROM (${orphans}) o) AS orphans${counts}`

const selectPlain = selectOffer('')
const selectWithCounts = selectOffer(`,
    (SELECT coalesce(json_agg(row_to_json(c)), '[]') FROM (${open}) c) AS open,
    (${unclaimable}) AS unclaimable, (${owed}) AS owed`)

interface OfferRow {
  readonly now: number
  readonly starts: readonly TaskRef[]
  readonly orphans: readonly TaskRef[]
  readonly open?: readonly OpenRow[]
  readonly unclaimable?: number
  readonly owed?: number
}

interface OpenRow {
  readonly status: string
  readonly principal: Principal
  readonly count: number
}

/** `now` is the clock of a store that was given one; the answer says what the clock was. */
export async function readOffer(
  connection: Connection,
  query: ClaimQuery,
  now: number | undefined,
): Promise<{ readonly offer: Offer; readonly now: number }> {
  const agents = [...new Set(query.agents)].map(toColumn)
  const statement = query.withCounts
    ? { name: 'claim_counts', sql: selectWithCounts }
    : { name: 'claim', sql: selectPlain }
  const values = [agents, query.starts, query.orphans, now ?? null]
  const [row] = await connection.query<OfferRow>({ ...statement, values })
  if (!row) throw new Error('The claim was not answered')
  const counts = query.withCounts && { counts: countsOf(row) }
  return { offer: { starts: row.starts.map(toRef), orphans: row.orphans.map(toRef), ...counts }, now: row.now }
}

function countsOf({ open = [], unclaimable = 0, owed = 0 }: OfferRow): NonNullable<Offer['counts']> {
  const pending = open.reduce((sum, { status, count }) => (status === 'pending' ? sum + count : sum), 0)
  const openByPrincipal = new Map<Principal, number>()
  for (const { principal, count } of open) openByPrincipal.set(principal, (openByPrincipal.get(principal) ?? 0) + count)
  return { pending, unclaimable, openByPrincipal, owedHooks: owed }
}

function toRef({ id, key }: { readonly id: TaskId; readonly key: ThreadKey }): TaskRef {
  return { id: fromColumn(id), key }
}
