import type { Database } from '../settings/local-store.ts'
import { age } from '../show/ages.ts'
import { fileSize } from '../show/file-size.ts'
import { type Check, note, ok, wrongly } from './check.ts'
import { countedByAgent } from './left-behind-check.ts'
import { endingOf, locksCheck } from './lock-check.ts'

export type DatabaseReport = Awaited<ReturnType<Database['inspectStore']>>
type Contents = NonNullable<DatabaseReport['contents']>
type Schema = NonNullable<DatabaseReport['schema']>

// Clocks that are kept in step differ by far less.
const driftMsMax = 5_000
// No statement of Holdfast takes this long.
const transactionMsLong = 5 * 60_000
const transactionMsMax = 60 * 60_000
// The server stops taking writes at 2 thousand million; it cleans up by itself from 200 million on.
const transactionAgeMax = 1_000_000_000
const deadRowsMany = 100_000
// A free node takes up what waits within a second, and what a dead one left within a lease and some seconds.
const waitMsMax = 60_000

/** What is wrong with a database, from what it says of itself; `now` is the clock of this machine. */
export function databaseChecks(
  report: DatabaseReport,
  connectionsPerNode: number,
  now: number,
  start: string,
): Check[] {
  const { contents, schema } = report
  return [
    ok('store', `${report.name}, PostgreSQL ${report.versionText}, as ${report.user}`),
    durabilityCheck(report),
    rightsCheck(report),
    locksCheck(report.locks),
    schema ? schemaCheck(schema, start) : unreadSchema(report),
    noticesCheck(report),
    sessionCheck(report),
    connectionsCheck(report, connectionsPerNode),
    serverClockCheck(report, now),
    upkeepCheck(report),
    transactionsCheck(report),
    ...(contents
      ? [nodesCheck(contents, report.now), waitingCheck(contents, report.now, start)]
      : unreadChecks(report)),
    sizeCheck(report),
  ]
}

/** Why no node starts is a sentence that says what is wrong and one that says what to do. */
function durabilityCheck({ unfit, synchronousCommit }: DatabaseReport): Check {
  if (unfit === undefined) return ok('durability', `fsync is on, synchronous_commit is ${synchronousCommit}`)
  const [finding = unfit, advice = ''] = unfit.split(/\. (?=[A-Z][^.]*$)/)
  return wrongly('server', finding, advice)
}

function rightsCheck({ user, missingRights }: DatabaseReport): Check {
  if (!missingRights) return lateNote('store rights', 'They')
  if (missingRights.length === 0) return ok('store rights', `${user} may do what a node has to`)
  const more = missingRights.length > 3 ? ` and ${missingRights.length - 3} more` : ''
  const finding = `${user} lacks ${missingRights.slice(0, 3).join(', ')}${more}`
  const advice = 'Grant it as docs/operations.md does under Upgrade, or let nodes use the user that made the schema'
  return wrongly('store rights', finding, advice)
}

function unreadSchema({ locks }: DatabaseReport): Check {
  if (locks.some(({ table, stopsReads }) => stopsReads && table === 'meta'))
    return note('schema', 'It was not read, because the table meta is locked')
  return lateNote('schema', 'It')
}

function schemaCheck(schema: Schema, start: string): Check {
  if ('refusal' in schema) return { name: 'schema', status: 'wrong', finding: schema.refusal }
  const { found, newest, missing } = schema
  if (!found) return note('schema', 'There is none yet', `The first start makes it, or ${start} migrate does`)
  const text = `${found.major}.${found.minor}`
  if (missing.length > 0) {
    const finding = `${text}, older than ${newest.major}.${newest.minor}`
    return note('schema', finding, `The next start migrates it, or ${start} migrate does; nodes may go on meanwhile`)
  }
  return found.minor > newest.minor
    ? note('schema', `${text}, of a newer Holdfast, which this one works on`)
    : ok('schema', text)
}

function noticesCheck({ passesNotices }: DatabaseReport): Check {
  if (passesNotices) return ok('notices', 'Nodes hear at once what others wrote')
  const finding = 'They do not arrive, as behind a pooler in transaction mode; nodes find what others wrote by polling'
  return note('notices', finding, 'Connect to the server itself, or to a pooler in session mode, to be told at once')
}

function sessionCheck({ isPooled, missingSettings }: DatabaseReport): Check {
  const name = 'session'
  if (!isPooled) return ok(name, 'Nodes set time-outs and what else they need on their connections')
  if (missingSettings.length === 0) return ok(name, 'The server sets what nodes cannot set behind a pooler')
  const finding =
    'Behind a pooler nodes set nothing on their connections, and the server does not set what they need: one that freezes may keep ' +
    'others waiting for longer than its lease'
  return note(name, finding, `Run this, and have the pooler open its connections anew: ${missingSettings.join('; ')}`)
}

function connectionsCheck(report: DatabaseReport, perNode: number): Check {
  const nodeCount = report.contents?.nodeCount ?? 0
  const usable = report.connectionsMax - report.connectionsReserved
  const free = usable - report.connectionsUsed
  const finding = `${report.connectionsUsed} of ${usable} are in use; a node takes up to ${perNode}`
  if (free < perNode) {
    const advice = 'Raise max_connections, run fewer nodes, or put a pooler between: the next node may not start'
    return wrongly('connections', `${finding}, and ${Math.max(0, free)} are left`, advice)
  }
  if (usable < (nodeCount + 1) * perNode) {
    const advice = 'Raise max_connections before you add a node'
    return note('connections', `${finding}, and there are ${nodeCount} nodes`, advice)
  }
  return ok('connections', finding)
}

function serverClockCheck({ now: serverNow }: DatabaseReport, now: number): Check {
  const differenceMs = serverNow - now
  if (Math.abs(differenceMs) <= driftMsMax) return ok('server clock', 'It agrees with the clock of this machine')
  const finding = `It is ${age(Math.abs(differenceMs))} ${differenceMs > 0 ? 'ahead of' : 'behind'} the clock of this machine`
  return note('server clock', finding, 'Leases go by it and are right; set both clocks so that logs can be compared')
}

function upkeepCheck({ autovacuum, transactionAge, contents, schema }: DatabaseReport): Check {
  const name = 'upkeep'
  if (autovacuum !== 'on') return wrongly(name, 'autovacuum is off, so tables only grow', 'Turn autovacuum on')
  if (transactionAge > transactionAgeMax) {
    const finding = `The oldest row was frozen ${transactionAge} transactions ago; at two thousand million writes stop`
    return wrongly(name, finding, 'Run VACUUM, and see what keeps autovacuum from doing so')
  }
  const [broken] = contents?.invalidIndexes ?? []
  if (broken !== undefined) return wrongly(name, `The index ${broken} is not valid`, `REINDEX INDEX ${broken}`)
  const [gone] = schema && 'found' in schema ? schema.missingIndexes : []
  if (gone !== undefined) {
    return wrongly(name, `The index ${gone} is not there, so reads are slow`, 'Make it again as that migration does')
  }
  const bloated = contents?.tables.find((table) => table.deadRows > Math.max(deadRowsMany, table.liveRows))
  if (!bloated) return ok(name, 'autovacuum keeps up')
  const finding = `${bloated.name} has ${bloated.deadRows} dead rows beside ${bloated.liveRows}`
  return note(name, finding, 'Look for a transaction that goes on for long; else let autovacuum work harder')
}

function transactionsCheck({ oldestTransaction }: DatabaseReport): Check {
  const name = 'transactions'
  if (!oldestTransaction || oldestTransaction.ageMs < transactionMsLong) return ok(name, 'None goes on for long')
  const { who, application, ageMs } = oldestTransaction
  const finding = `${who} (${application || 'unnamed'}) has been in one for ${age(ageMs)}; what was removed since takes up space`
  const advice = endingOf(who, application)
  return ageMs < transactionMsMax ? note(name, finding, advice) : wrongly(name, finding, advice)
}

/** Why nothing is said of nodes and tasks, unless the schema says why. */
function unreadChecks({ locks, schema }: DatabaseReport): Check[] {
  if (locks.some(({ stopsReads }) => stopsReads))
    return [note('nodes', 'They were not looked for, because a table is locked')]
  if (schema && ('refusal' in schema || !schema.found)) return []
  return [lateNote('nodes', 'Nodes, tasks and sizes')]
}

function lateNote(name: string, what: string): Check {
  const advice = 'See what slows the server down, then run this again: other programs, its disk, dead rows'
  return note(name, `${what} could not be read in some seconds`, advice)
}

function nodesCheck({ nodeCount, orphanCount, orphans }: Contents, now: number): Check {
  const leases = `${nodeCount} ${nodeCount === 1 ? 'has' : 'have'} a lease`
  if (orphanCount === 0) return ok('nodes', leases)
  const tasks = `${orphanCount} ${orphanCount === 1 ? 'task belongs' : 'tasks belong'} to nodes that are gone`
  const finding = `${leases}, and ${tasks}${countedByAgent(orphans)}`
  if (nodeCount === 0) return note('nodes', finding, 'The next node that starts goes on with those whose agents it has')
  const late = orphans.filter(({ sinceAt }) => now - sinceAt > waitMsMax).map(({ agent }) => agent)
  if (late.length === 0) return note('nodes', finding, 'The others go on with them within a lease and some seconds')
  return note(
    'nodes',
    finding,
    `Start a node that has the ${late.length === 1 ? 'agent' : 'agents'} ${late.join(', ')}`,
  )
}

function waitingCheck({ waiting }: Contents, now: number, start: string): Check {
  const name = 'waiting tasks'
  const late = waiting.filter(({ oldestAt }) => now - oldestAt > waitMsMax)
  const [first] = late
  if (!first) return ok(name, waiting.length === 0 ? 'None' : 'None for longer than a minute')
  const each = late.map(({ agent, count, oldestAt }) => `${count} of ${agent}, for ${age(now - oldestAt)}`)
  const advice = `Start a node that has these agents, or more nodes if all slots are taken: ${start} ps -a, /metrics`
  return note(name, each.join('; '), advice)
}

function sizeCheck({ bytes, contents }: DatabaseReport): Check {
  if (bytes === undefined) return lateNote('size', 'It')
  const tables = contents?.tables.slice(0, 3).map((table) => `${table.name} ${fileSize(table.bytes)}`) ?? []
  const largest = tables.length > 0 ? `; ${tables.join(', ')}` : ''
  return ok('size', `The database is ${fileSize(bytes)}${largest}`)
}
