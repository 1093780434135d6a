import type { Connection, ConnectionSettings } from './connection.ts'

// What nodes have unless they are told otherwise.
const leaseMsDefault = 15_000

// A commit relies on each of its statements seeing what was committed before it, and no statement wants to fail because it does
// not, whatever the database has for a default.
const isolation = { default_transaction_isolation: 'read committed' }

// What a planner gains by compiling a plan it has lost again before the first row.
// Every read finds its rows by an index; a plan that was made while a table was small is kept when it has grown.
export function settingsFor(timeoutMs: number): ConnectionSettings {
  return { ...isolation, statement_timeout: timeoutMs, jit: 'off', enable_seqscan: 'off' }
}

// Of commits, and of what a node decides by: a claim and new task numbers hold rows that other nodes wait for.
export const timeoutMsMax = 4_500

/** Below a third of the lease, so that a node that is frozen in a transaction never outlives its lease in it. */
export function timeoutMsFor(leaseMs: number): number {
  return Math.min(timeoutMsMax, Math.floor(leaseMs * 0.3))
}

export function decidingSettings(timeoutMs: number): ConnectionSettings {
  return { ...settingsFor(timeoutMs), ...boundsFor(timeoutMs) }
}

export function writerSettings(timeoutMs: number): ConnectionSettings {
  return { ...isolation, statement_timeout: timeoutMs, ...boundsFor(timeoutMs) }
}

/**
 * How long a transaction may wait for this node. It waits for nothing but the end of its one statement, which a network may lose
 * while the statement arrives. A server gives up that wait from version 17 on, before a third of a lease is over; one before that
 * when it finds that nobody is there, in seconds instead of hours.
 */
function boundsFor(timeoutMs: number): ConnectionSettings {
  return {
    idle_in_transaction_session_timeout: timeoutMs,
    transaction_timeout: transactionMsFor(timeoutMs),
    tcp_keepalives_idle: 5,
    tcp_keepalives_interval: 2,
    tcp_keepalives_count: 2,
  }
}

function transactionMsFor(timeoutMs: number): number {
  return Math.floor(timeoutMs * 1.1)
}

/** What the server is to set for the user of nodes that set nothing, as behind a pooler; one set of it for all connections. */
interface Wanted {
  readonly name: string
  /** As it is written in SQL. */
  readonly value: string
  isRight(setting: string): boolean
}

function wantedSettings(leaseMs: number): readonly Wanted[] {
  const timeoutMs = timeoutMsFor(leaseMs)
  const isRight = (setting: string) => Number(setting) > 0 && Number(setting) < leaseMs / 3
  const timeout = (name: string, ms: number): Wanted => ({ name, value: `'${ms}ms'`, isRight })
  const word = (name: string, value: string, setting = value): Wanted => {
    return { name, value, isRight: (given) => given === setting }
  }
  return [
    word('default_transaction_isolation', `'read committed'`, 'read committed'),
    timeout('statement_timeout', timeoutMs),
    timeout('idle_in_transaction_session_timeout', timeoutMs),
    word('jit', 'off'),
    word('enable_seqscan', 'off'),
    timeout('transaction_timeout', transactionMsFor(timeoutMs)),
  ]
}

interface InForce {
  readonly name: string
  /** In milliseconds, if it is a time. */
  readonly setting: string
  readonly role: string
}

// Some are of later versions than others.
const selectInForce = `
  SELECT name, setting, quote_ident(session_user) AS role FROM pg_catalog.pg_settings WHERE name = ANY ($1::text[])`

/** What to tell the server, in SQL, so that it sets for the user of this connection what nodes need; empty if it does. */
export async function missingSettings(connection: Connection, leaseMs = leaseMsDefault): Promise<string[]> {
  const wanted = wantedSettings(leaseMs)
  const names = wanted.map(({ name }) => name)
  const inForce = await connection.query<InForce>({ sql: selectInForce, values: [names] })
  return wanted.flatMap(({ name, value, isRight }) => {
    const found = inForce.find((each) => each.name === name)
    return found && !isRight(found.setting) ? [`ALTER ROLE ${found.role} SET ${name} = ${value}`] : []
  })
}
