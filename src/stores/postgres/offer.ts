import type { Principal, TaskId, ThreadKey } from '../../core/id.ts'
import type { ClaimQuery, Offer, TaskRef } from '../store.ts'
import { fromColumn, toColumn } from './column-text.ts'
import type { Connection } from './connection.ts'

const isStartable = `t.status = 'pending' AND t.ready AND NOT t.closure`
const isHeld = `(t.status = 'running' OR (t.status = 'pending' AND t.closure))`

// Rows that a commit has locked are skipped: what becomes of their tasks is being decided. If there are no others they are
// offered all the same, because nobody looks again when that commit is done.
const notLocked = 'FOR NO KEY UPDATE OF th SKIP LOCKED'
const notOfferedElsewhere = 't.n NOT IN (SELECT e.n FROM elsewhere e)'

const starts = (lock: string): string => `
  SELECT t.n, t.id, t.key FROM unnest($1::text[]) AS a (agent)
  CROSS JOIN LATERAL (
    SELECT t.n, t.id, th.key FROM holdfast.tasks t JOIN holdfast.threads th ON th.n = t.thread
    WHERE ${isStartable} AND t.agent = a.agent AND ${notOfferedElsewhere}
    ORDER BY t.n LIMIT $2 ${lock}
  ) t
  ORDER BY t.n LIMIT $2`

const isAlive = (node: string): string => `
    SELECT FROM holdfast.nodes l WHERE l.id = ${node} AND l.until_at > (SELECT m.now FROM moment m)`

// Leaps from node to node, however many tasks each holds. A node that has lost its own lease is in no position to say that
// others are gone: after an outage all leases may have run out, and all nodes live.
const holders = `
  WITH RECURSIVE holders (node) AS (
    (SELECT t.node FROM holdfast.tasks t WHERE ${isHeld} ORDER BY t.node LIMIT 1)
    UNION ALL
    SELECT (SELECT t.node FROM holdfast.tasks t WHERE ${isHeld} AND t.node > h.node ORDER BY t.node LIMIT 1)
    FROM holders h WHERE h.node IS NOT NULL
  )
  SELECT h.node FROM holders h
  WHERE h.node IS NOT NULL AND NOT EXISTS (${isAlive('h.node')}) AND EXISTS (${isAlive('$5')})`

const orphans = (lock: string): string => `
  SELECT t.n, t.id, t.key FROM (${holders}) AS h (node)
  CROSS JOIN LATERAL (
    SELECT t.n, t.id, th.key FROM holdfast.tasks t JOIN holdfast.threads th ON th.n = t.thread
    WHERE ${isHeld} AND t.node = h.node AND (t.closure OR t.cancel_requested_at IS NOT NULL OR t.agent = ANY ($1))
      AND ${notOfferedElsewhere}
    ORDER BY t.n LIMIT $3 ${lock}
  ) t
  ORDER BY t.n LIMIT $3`

const open = `
  SELECT t.status, t.principal, count(*) AS count FROM holdfast.tasks t
  WHERE t.status IN ('pending', 'running') GROUP BY t.status, t.principal`

const unclaimable = `
  SELECT count(*) FROM holdfast.tasks t WHERE ${isStartable} AND (t.agent IS NULL OR t.agent <> ALL ($1))`

const owed = 'SELECT count(*) FROM holdfast.tasks t WHERE t.hook_at IS NOT NULL'

const holding = 'SELECT count(*) FROM holdfast.nodes n WHERE n.until_at > (SELECT m.now FROM moment m)'

// What the tables take, with all that belongs to them.
const bytes = `
  SELECT coalesce(sum(pg_total_relation_size(c.oid)), 0)::bigint FROM pg_catalog.pg_class c
  WHERE c.relkind = 'r' AND c.relnamespace = (
    SELECT m.relnamespace FROM pg_catalog.pg_class m WHERE m.oid = 'holdfast.threads'::regclass
  )`

const freeFirst = (name: string, rows: (lock: string) => string): string => `
  free_${name} AS MATERIALIZED (${rows(notLocked)}), ${name} AS MATERIALIZED (
    SELECT f.n, f.id, f.key FROM free_${name} f
    UNION ALL
    SELECT a.n, a.id, a.key FROM (${rows('')}) a WHERE NOT EXISTS (SELECT FROM free_${name})
  )`

// Longer than a node takes to start what it was offered, and not longer than others wait before they look again.
const offeredMs = 1_000

/**
 * One statement that also writes down what it offers, with the lease of the node: others are offered something else for a
 * moment, or until the lease is over. It does not wait for the disk, because an offer that is lost is made again.
 */
const selectOffer = (counts: string): string => `
  WITH moment AS MATERIALIZED (
    SELECT set_config('synchronous_commit', 'off', true), coalesce($4::bigint, holdfast.clock_ms()) AS now
  ), elsewhere AS MATERIALIZED (
    SELECT o.n FROM holdfast.nodes h, moment m, unnest(h.offered) AS o (n)
    WHERE h.id <> $5 AND h.until_at > m.now AND h.offered_until > m.now
  ), ${freeFirst('starts', starts)}, ${freeFirst('orphans', orphans)}, offered AS MATERIALIZED (
    SELECT ARRAY(SELECT s.n FROM starts s UNION ALL SELECT o.n FROM orphans o) AS ns
  ), noted AS (
    UPDATE holdfast.nodes h SET offered = f.ns, offered_until = m.now + ${offeredMs} FROM offered f, moment m
    WHERE h.id = $5 AND f.ns <> '{}'
      AND EXISTS (SELECT FROM holdfast.nodes x WHERE x.id <> $5 AND x.until_at > m.now)
  )
  SELECT m.now,
    (SELECT coalesce(json_agg(json_build_object('id', s.id, 'key', s.key) ORDER BY s.n), '[]') FROM starts s) AS starts,
    (SELECT coalesce(json_agg(json_build_object('id', o.id, 'key', o.key) ORDER BY o.n), '[]') FROM orphans o) AS orphans,
    (SELECT count(*) < $2 FROM starts) AND EXISTS (
      SELECT FROM holdfast.tasks t
      WHERE ${isStartable} AND t.agent = ANY ($1) AND ${notOfferedElsewhere} AND t.n NOT IN (SELECT s.n FROM starts s)
    ) AS "isPartial"${counts}
  FROM moment m`

const selectPlain = selectOffer('')
const counted = `,
    (SELECT coalesce(json_agg(row_to_json(c)), '[]') FROM (${open}) c) AS open,
    (${unclaimable}) AS unclaimable, (${owed}) AS owed, (${holding}) AS nodes`
const selectWithCounts = selectOffer(counted)
const selectWithBytes = selectOffer(`${counted}, (${bytes}) AS bytes`)

interface OfferRow {
  readonly now: number
  readonly starts: readonly TaskRef[]
  readonly orphans: readonly TaskRef[]
  readonly isPartial: boolean
  readonly open?: readonly OpenRow[]
  readonly unclaimable?: number
  readonly owed?: number
  readonly nodes?: number
  readonly bytes?: number
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
  const agents = [...new Set(query.agents)].map(toColumn)
  const statement = statementOf(query)
  const values = [agents, query.starts, query.orphans, now ?? null, toColumn(query.node)]
  const [row] = await connection.query<OfferRow>({ ...statement, values, timeoutMs: answerMs })
  if (!row) throw new Error('The claim was not answered')
  const offer = {
    starts: row.starts.map(toRef),
    orphans: row.orphans.map(toRef),
    ...(row.isPartial && { isPartial: true as const }),
    ...(query.withCounts && { counts: countsOf(row) }),
  }
  return { offer, now: row.now }
}

function statementOf({ withCounts, withBytes }: ClaimQuery): { readonly name: string; readonly sql: string } {
  if (!withCounts) return { name: 'claim', sql: selectPlain }
  if (withBytes) return { name: 'claim_bytes', sql: selectWithBytes }
  return { name: 'claim_counts', sql: selectWithCounts }
}

function countsOf({ open = [], unclaimable = 0, owed = 0, nodes = 0, bytes }: OfferRow): NonNullable<Offer['counts']> {
  const pending = open.reduce((sum, { status, count }) => (status === 'pending' ? sum + count : sum), 0)
  const openByPrincipal = new Map<Principal, number>()
  for (const { principal, count } of open) openByPrincipal.set(principal, (openByPrincipal.get(principal) ?? 0) + count)
  return { pending, unclaimable, openByPrincipal, owedHooks: owed, nodes, ...(bytes !== undefined && { bytes }) }
}

function toRef({ id, key }: { readonly id: TaskId; readonly key: ThreadKey }): TaskRef {
  return { id: fromColumn(id), key }
}
