import { headStartMs } from '../claim.ts'

const isStartable = `t.status = 'pending' AND t.ready AND NOT t.closure`
const isHeld = `(t.status = 'running' OR (t.status = 'pending' AND t.closure))`
// A number in the rest of a record. It is taken out of the text, because the server's own JSON refuses what a text may hold; within a
// string of JSON no quote stands by itself, so only the field itself looks like this.
const numberOf = (field: string): string => `substring(t.doc FROM '"${field}":([0-9]+)')::bigint`
// `isOver` of core: whoever takes it over only ends it. Asked of what a node left behind, so it needs no index.
const isOver = `(
    t.closure OR t.cancel_requested_at IS NOT NULL OR (
      t.started_at + ${numberOf('timeoutMs')} + coalesce(${numberOf('waitedMs')}, 0) <= (SELECT m.now FROM moment m)
      AND ${numberOf('waitingSince')} IS NULL
    ) IS TRUE
  )`

// Rows that a commit has locked are skipped: what becomes of their tasks is being decided. If there are no others they are
// offered all the same, because nobody looks again when that commit is done.
const notLocked = 'FOR NO KEY UPDATE OF th SKIP LOCKED'
const notOfferedElsewhere = 't.n NOT IN (SELECT e.n FROM elsewhere e)'
// Threads that the node asks nothing of; $7 are the orphans that it does not ask for.
const isAskedFor = 'th.key <> ALL ($6)'
const isAskedForIn = 't.thread NOT IN (SELECT th.n FROM holdfast.threads th WHERE th.key = ANY ($6))'

/** What differs where agents have limits. Most installations have none, and their statement knows nothing of them. */
interface Variant {
  /** The agents to start tasks of, each with what may be started at most. */
  readonly agents: string
  readonly room: string
  /** Whether it is left to another node for a moment. */
  readonly isLeft: string
  /** Those whose orphans can go on. */
  readonly openAgents: string
  /** What is computed before anything is looked for, and after it was found. */
  readonly before: string
  readonly after: string
  /** What the node's row is to say, and whether it says something else now. */
  readonly noted: string
  readonly isNews: string
  readonly isPartial: string
  /** Whether something was left to another node. */
  readonly hasLeft: string
  readonly answer: string
}

const isOfferNews = `f.ns <> '{}' AND EXISTS (SELECT FROM holdfast.nodes x WHERE x.id <> $5 AND x.until_at > m.now)`

// $8 is what came to wait by the node's own commits. What was accepted in the future, by a clock that was set back since, is nobody's own.
const isLeft = `(
    $8::text[] IS NOT NULL AND t.id <> ALL ($8)
    AND t.created_at BETWEEN (SELECT m.now FROM moment m) - ${headStartMs - 1} AND (SELECT m.now FROM moment m)
  )`

// If it was offered less than it asked for, the rest is little to go through.
const moreThat = (condition: string): string => `(SELECT count(*) < $2 FROM starts) AND EXISTS (
      SELECT FROM holdfast.tasks t
      WHERE ${isStartable} AND t.agent = ANY ($1) AND ${notOfferedElsewhere} AND ${isAskedForIn} AND t.n NOT IN (SELECT s.n FROM starts s)
        AND ${condition}
    )`

const unlimited: Variant = {
  agents: 'unnest($1::text[]) AS a (agent)',
  room: '$2',
  isLeft,
  openAgents: '$1',
  before: '',
  after: '',
  noted: '',
  isNews: isOfferNews,
  isPartial: moreThat(`NOT ${isLeft}`),
  hasLeft: moreThat(isLeft),
  answer: '',
}

// $8, $9 and $10 are the agents that have a limit, their limits, and how many of their tasks this node executes. A node counts
// while its lease holds, so what crashes with it makes room.
const limited: Variant = {
  agents: 'rooms a',
  room: 'a.room',
  // Where there is room for few, they go in the order of their acceptance, wherever that was.
  isLeft: 'false',
  openAgents: `ARRAY(
    SELECT a.agent FROM unnest($1::text[]) AS a (agent)
    WHERE NOT EXISTS (SELECT FROM limits l WHERE l.agent = a.agent AND l.room = 0)
  )`,
  before: `executing AS MATERIALIZED (
    SELECT x.key AS agent, sum(x.value::bigint)::bigint AS count
    FROM holdfast.nodes h, moment m, jsonb_each_text(h.executing) AS x (key, value)
    WHERE h.id <> $5 AND h.until_at > m.now GROUP BY x.key
  ), limits AS MATERIALIZED (
    SELECT l.agent, l.max, l.executing, greatest(0, l.max - l.executing - coalesce(e.count, 0)) AS room
    FROM unnest($8::text[], $9::bigint[], $10::bigint[]) AS l (agent, max, executing)
    LEFT JOIN executing e ON e.agent = l.agent
  ), rooms AS MATERIALIZED (
    SELECT a.agent, least($2, coalesce(l.room, $2)) AS room
    FROM unnest($1::text[]) AS a (agent) LEFT JOIN limits l ON l.agent = a.agent
  ), `,
  // More orphans may be offered than there is room for; those that are not taken over are no concern of other nodes.
  after: `, told AS MATERIALIZED (
    SELECT coalesce(jsonb_object_agg(x.agent, x.count) FILTER (WHERE x.count > 0), '{}') AS executing
    FROM (
      SELECT l.agent, least(greatest(l.max, l.executing), l.executing + (
        SELECT count(*) FROM (SELECT s.agent FROM starts s UNION ALL SELECT o.agent FROM orphans o) r WHERE r.agent = l.agent
      )) AS count FROM limits l
    ) x
  )`,
  noted: `, executing = (SELECT t.executing FROM told t)`,
  // Also while there is no other node: the first thing that one does when it comes is a claim.
  isNews: `(${isOfferNews} OR h.executing <> (SELECT t.executing FROM told t))`,
  hasLeft: 'false',
  isPartial: `(SELECT count(*) < $2 FROM starts) AND EXISTS (
      SELECT FROM rooms a WHERE (SELECT count(*) FROM starts s WHERE s.agent = a.agent) < a.room AND EXISTS (
        SELECT FROM holdfast.tasks t
        WHERE ${isStartable} AND t.agent = a.agent AND ${notOfferedElsewhere} AND ${isAskedForIn} AND t.n NOT IN (SELECT s.n FROM starts s)
      )
    )`,
  answer: `,
    (SELECT coalesce(json_object_agg(e.agent, e.count), '{}') FROM executing e) AS elsewhere`,
}

const starts =
  ({ agents, room, isLeft }: Variant) =>
  (lock: string): string =>
    `
  SELECT t.n, t.id, t.key, t.agent FROM ${agents}
  CROSS JOIN LATERAL (
    SELECT t.n, t.id, th.key, t.agent FROM holdfast.tasks t JOIN holdfast.threads th ON th.n = t.thread
    WHERE ${isStartable} AND t.agent = a.agent AND ${notOfferedElsewhere} AND ${isAskedFor} AND NOT ${isLeft}
    ORDER BY t.n LIMIT ${room} ${lock}
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

// With the agent of those that go on.
const orphans =
  ({ openAgents }: Variant) =>
  (lock: string): string =>
    `
  SELECT t.n, t.id, t.key, t.agent FROM (${holders}) AS h (node)
  CROSS JOIN LATERAL (
    SELECT t.n, t.id, th.key, CASE WHEN NOT ${isOver} THEN t.agent END AS agent
    FROM holdfast.tasks t JOIN holdfast.threads th ON th.n = t.thread
    WHERE ${isHeld} AND t.node = h.node
      AND (t.agent = ANY (${openAgents}) OR ${isOver}) AND ${notOfferedElsewhere} AND ${isAskedFor} AND t.id <> ALL ($7)
    ORDER BY t.n LIMIT $3 ${lock}
  ) t
  ORDER BY t.n LIMIT $3`

const open = `
  SELECT t.status, t.principal, count(*) AS count FROM holdfast.tasks t
  WHERE t.status IN ('pending', 'running') GROUP BY t.status, t.principal`

const isForeign = '(t.agent IS NULL OR t.agent <> ALL ($1))'
const unclaimable = `
  SELECT (SELECT count(*) FROM holdfast.tasks t WHERE ${isStartable} AND ${isForeign}) + (
    SELECT count(*) FROM (${holders}) AS h (node) JOIN holdfast.tasks t ON t.node = h.node
    WHERE ${isHeld} AND ${isForeign} AND NOT ${isOver}
  )`

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
    SELECT f.n, f.id, f.key, f.agent FROM free_${name} f
    UNION ALL
    SELECT a.n, a.id, a.key, a.agent FROM (${rows('')}) a WHERE NOT EXISTS (SELECT FROM free_${name})
  )`

const ref = `json_build_object('id', r.id, 'key', r.key, 'agent', r.agent)`

// Longer than a node takes to start what it was offered, and not longer than others wait before they look again.
const offeredMs = 1_000

/**
 * One statement that also writes down what it offers, with the lease of the node: others are offered something else for a
 * moment, or until the lease is over. It does not wait for the disk, because an offer that is lost is made again.
 */
const selectOffer = (variant: Variant, counts: string): string => `
  WITH moment AS MATERIALIZED (
    SELECT set_config('synchronous_commit', 'off', true), coalesce($4::bigint, holdfast.clock_ms()) AS now
  ), elsewhere AS MATERIALIZED (
    SELECT o.n FROM holdfast.nodes h, moment m, unnest(h.offered) AS o (n)
    WHERE h.id <> $5 AND h.until_at > m.now AND h.offered_until > m.now
  ), ${variant.before}${freeFirst('starts', starts(variant))}, ${freeFirst('orphans', orphans(variant))}, offered AS MATERIALIZED (
    SELECT ARRAY(SELECT s.n FROM starts s UNION ALL SELECT o.n FROM orphans o) AS ns
  )${variant.after}, noted AS (
    UPDATE holdfast.nodes h SET offered = CASE WHEN f.ns <> '{}' THEN f.ns ELSE h.offered END,
      offered_until = CASE WHEN f.ns <> '{}' THEN m.now + ${offeredMs} ELSE h.offered_until END${variant.noted}
    FROM offered f, moment m
    WHERE h.id = $5 AND ${variant.isNews}
  )
  SELECT m.now,
    (SELECT coalesce(json_agg(${ref} ORDER BY r.n), '[]') FROM starts r) AS starts,
    (SELECT coalesce(json_agg(${ref} ORDER BY r.n), '[]') FROM orphans r) AS orphans,
    ${variant.isPartial} AS "isPartial", ${variant.hasLeft} AS "hasLeft"${variant.answer}${counts}
  FROM moment m`

// What a node has lost: it is executed under its lease, and not by it. $1 is the node, $2 what it executes, $4 the clock.
const selectStrays = `
  SELECT coalesce($4::bigint, holdfast.clock_ms()) AS now, '[]'::json AS starts, false AS "isPartial", false AS "hasLeft",
    (SELECT coalesce(json_agg(${ref} ORDER BY r.n), '[]') FROM (
      SELECT t.n, t.id, th.key, t.agent FROM holdfast.tasks t JOIN holdfast.threads th ON th.n = t.thread
      WHERE ${isHeld} AND t.node = $1 AND t.id NOT IN (SELECT unnest($2::text[]))
      ORDER BY t.n LIMIT $3
    ) r) AS orphans`

export const strayStatement = { name: 'claim_strays', sql: selectStrays } as const

const counted = `,
    (SELECT coalesce(json_agg(row_to_json(c)), '[]') FROM (${open}) c) AS open,
    (${unclaimable}) AS unclaimable, (${owed}) AS owed, (${holding}) AS nodes`
const countedWithBytes = `${counted}, (${bytes}) AS bytes`

/** What a claim asks, with and without limits of agents: a plain look for work, or one that counts as well. */
export const claimStatements = {
  plain: { name: 'claim', sql: selectOffer(unlimited, '') },
  counts: { name: 'claim_counts', sql: selectOffer(unlimited, counted) },
  bytes: { name: 'claim_bytes', sql: selectOffer(unlimited, countedWithBytes) },
} as const

export const limitedClaimStatements = {
  plain: { name: 'claim_limited', sql: selectOffer(limited, '') },
  counts: { name: 'claim_limited_counts', sql: selectOffer(limited, counted) },
  bytes: { name: 'claim_limited_bytes', sql: selectOffer(limited, countedWithBytes) },
} as const
