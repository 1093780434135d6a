import type { Database } from '../settings/local-store.ts'
import { age } from '../show/ages.ts'
import { type Check, ok, wrongly } from './check.ts'

type Lock = Awaited<ReturnType<Database['inspectStore']>>['locks'][number]

const name = 'locks'
const shownMax = 3

/** Who keeps others from tables, for long enough to be met. */
export function locksCheck(locks: readonly Lock[]): Check {
  if (locks.length === 0) return ok(name, 'Nobody keeps nodes from their tables')
  const more = locks.length > shownMax ? ` and ${locks.length - shownMax} more` : ''
  const finding = `${locks.slice(0, shownMax).map(sentence).join('; ')}${more}`
  const ends = new Set(locks.map(({ who, application }) => endingOf(who, application)))
  const isSession = locks.some(({ application }) => application !== 'prepared')
  const isOurs = locks.some(({ application }) => application === 'holdfast')
  const what = `End that ${isSession ? 'session' : 'transaction'}${isOurs ? ', unless it is a migration at work' : ''}`
  return wrongly(name, finding, `${what}: ${[...ends].join('; ')}`)
}

/** What ends a session or a prepared transaction. */
export function endingOf(who: string, application: string): string {
  if (application !== 'prepared') return `SELECT pg_terminate_backend(${who})`
  return `ROLLBACK PREPARED '${who.replaceAll("'", "''")}'`
}

function sentence({ table, who, application, ageMs, stopsReads, waiting }: Lock): string {
  const since = ageMs === null ? '' : `, in a transaction for ${age(ageMs)}`
  const holder = `${who} (${application || 'unnamed'})`
  const others = stopsReads ? 'nobody else reads or writes it' : 'nobody else writes to it'
  if (waiting === null) return `${table} is locked by ${holder}${since}: ${others}`
  return `${table} is to be locked by ${waiting}, which waits for ${holder}${since}: ${others} meanwhile`
}
