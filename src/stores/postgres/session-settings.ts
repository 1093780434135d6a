import type { ConnectionSettings } from './connection.ts'

// A commit relies on each of its statements seeing what was committed before it, and no statement wants to fail because it does
// not, whatever the database has for a default.
const isolation = { default_transaction_isolation: 'read committed' }

// What a planner gains by compiling a plan it has lost again before the first row.
// Every read finds its rows by an index; a plan that was made while a table was small is kept when it has grown.
export function settingsFor(timeoutMs: number): ConnectionSettings {
  return { ...isolation, statement_timeout: timeoutMs, jit: 'off', enable_seqscan: 'off' }
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
    transaction_timeout: Math.floor(timeoutMs * 1.1),
    tcp_keepalives_idle: 5,
    tcp_keepalives_interval: 2,
    tcp_keepalives_count: 2,
  }
}
