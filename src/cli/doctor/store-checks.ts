import { existsSync } from 'node:fs'
import { dirname } from 'node:path'
import { errorMessage } from '../error-message.ts'
import { type Database, type LocalStore, loadDatabase } from '../settings/local-store.ts'
import { fileSize } from '../show/file-size.ts'
import { type Check, note, ok, thrown, wrongly } from './check.ts'
import { databaseChecks } from './database-checks.ts'
import { diskCheck } from './machine-checks.ts'

// Some twenty times of what is left between two checkpoints: something has been reading the file for long.
const logBytesMax = 64 * 1024 * 1024

// A backend is loaded when it is needed, and not for its types either.
const backend = () => import('../../stores/sqlite/index.ts')
type StoreReport = ReturnType<Awaited<ReturnType<typeof backend>>['inspectStore']>

export interface StoreFindings {
  readonly checks: readonly Check[]
  readonly isHeld: boolean
  readonly newestAt?: number
  /** Of a store that one server has at a time, if it was read. */
  readonly executing?: StoreReport['executing']
  /** Of a store that several nodes share: how many have a lease. */
  readonly nodeCount?: number
}

interface Asking {
  readonly now: number
  readonly start: string
  /** Of the nodes, if the settings say it. */
  readonly leaseMs?: number
}

/** Looks at the store, which may be in use, without changing anything. */
export async function storeChecks(store: LocalStore, asking: Asking): Promise<StoreFindings> {
  if (store.kind === 'postgres') return databaseFindings(store.url, asking)
  if (store.kind !== 'sqlite') return { checks: [otherStore(store.kind)], isHeld: false }
  const { path } = store
  const disk = diskCheck(dirname(path))
  if (!existsSync(path)) {
    return { checks: [note('store', `${path} is not there yet`, 'The first start makes it'), disk], isHeld: false }
  }
  try {
    const { inspectStore } = await backend()
    const report = inspectStore(path)
    const { isHeld, newestAt, executing } = report
    return {
      checks: [...reportChecks(report, asking.start), disk],
      isHeld,
      executing,
      ...(newestAt !== undefined && { newestAt }),
    }
  } catch (error) {
    return { checks: [thrown('store', error), disk], isHeld: false }
  }
}

export function reportChecks(report: StoreReport, start: string): Check[] {
  const { path, bytes, isHeld } = report
  const use = isHeld ? 'a server has it open' : 'no server has it open'
  const store = ok('store', `${path}, ${fileSize(bytes)}, ${use}`)
  return [store, modeCheck(report), schemaCheck(report, start), integrityCheck(report), logCheck(report)]
}

function modeCheck({ path, othersMode }: StoreReport): Check {
  if (othersMode === 0) return ok('store rights', 'For its owner alone')
  return wrongly('store rights', 'Others on this machine can get at it', `chmod 600 ${path}*`)
}

function schemaCheck({ schema: { found, newest, missing } }: StoreReport, start: string): Check {
  const text = found ? `${found.major}.${found.minor}` : 'none'
  if (missing.length > 0) {
    const finding = `${text}, older than ${newest.major}.${newest.minor}`
    return note('schema', finding, `The next start migrates it, or ${start} migrate does; take a copy before`)
  }
  const isNewer = found !== undefined && found.minor > newest.minor
  return isNewer ? note('schema', `${text}, of a newer Holdfast, which this one works on`) : ok('schema', text)
}

function integrityCheck({ damage }: StoreReport): Check {
  if (damage.length === 0) return ok('integrity', 'Nothing is damaged')
  return wrongly('integrity', damage.join('; '), 'Stop the server, and restore the store from a copy')
}

function logCheck({ logBytes, isCopy }: StoreReport): Check {
  if (isCopy && logBytes > 0) {
    return note('write-ahead log', 'It belongs to the store that was here before the copy', 'The next start removes it')
  }
  const finding = fileSize(logBytes)
  if (logBytes <= logBytesMax) return ok('write-ahead log', finding)
  const advice = 'Look for a program that reads the file for long, such as a copy that is being made'
  return note('write-ahead log', `${finding}, more than usual`, advice)
}

async function databaseFindings(url: string, { now, start, leaseMs }: Asking): Promise<StoreFindings> {
  let database: Database | undefined
  try {
    database = await loadDatabase()
    const report = await database.inspectStore(url, leaseMs)
    const checks = databaseChecks(report, database.connectionsPerNode, now, start)
    return { checks, isHeld: false, ...(report.contents && { nodeCount: report.contents.nodeCount }) }
  } catch (error) {
    const check = database?.isUnreachable(error)
      ? wrongly('store', errorMessage(error), unreachableAdvice)
      : thrown('store', error)
    return { checks: [check], isHeld: false }
  }
}

const unreachableAdvice = 'Check address and port in its URL, and that the server runs and lets this machine in'

function otherStore(kind: Exclude<LocalStore['kind'], 'postgres' | 'sqlite'>): Check {
  if (kind === 'memory') return note('store', 'memory:, which forgets everything when the server stops')
  return note('store', 'An object of the config file, which only a server can look at')
}
