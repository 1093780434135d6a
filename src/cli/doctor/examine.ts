import { stateFolder } from '../../server/index.ts'
import { commandStart } from '../command-start.ts'
import { loadConfig } from '../settings/config-file.ts'
import { chosenStore, type LocalStore, type StoreFlags } from '../settings/local-store.ts'
import { type ServerAddress, serverAddress } from '../settings/server-address.ts'
import { readSettings, type Sources } from '../settings/settings.ts'
import type { Surroundings } from '../surroundings.ts'
import { type Check, note, ok, thrown } from './check.ts'
import { folderCheck, tokenCheck } from './folder-checks.ts'
import { leftBehindChecks } from './left-behind-check.ts'
import { clockCheck, nodeCheck } from './machine-checks.ts'
import { type ServerFindings, serverCheck } from './server-check.ts'
import { type StoreFindings, storeChecks } from './store-checks.ts'

export interface ExamineFlags extends StoreFlags {
  readonly url?: string
  readonly token?: string
}

type Around = Pick<Surroundings, 'env' | 'folder' | 'clock'>

interface Configured {
  readonly checks: readonly Check[]
  /** Absent if the settings do not tell. */
  readonly store?: LocalStore
  readonly principals: readonly string[]
  readonly leaseMs?: number
}

/** All checks, in the order in which one thing rests on another. Changes nothing, and tells no secret. */
export async function examine(flags: ExamineFlags, around: Around, signal: AbortSignal): Promise<Check[]> {
  const { checks, store, principals, leaseMs } = await configured(flags, around)
  const folder = stateFolder(around.env)
  const start = commandStart(around.env)
  const found: StoreFindings = store
    ? await storeChecks(store, { now: around.clock.now(), start, ...(leaseMs !== undefined && { leaseMs }) })
    : { checks: [], isHeld: false }
  const server = await serverFindings(await addressOf(flags, around, checks), found, around, signal)
  return [
    nodeCheck(process.versions.node),
    ...checks,
    folderCheck(folder),
    tokenCheck(folder, principals),
    ...found.checks,
    ...leftBehindChecks(found, server),
    clockCheck(around.clock.now(), found.newestAt),
    server.check,
  ]
}

async function serverFindings(
  address: ServerAddress | Check,
  store: StoreFindings,
  { clock, env }: Around,
  signal: AbortSignal,
): Promise<ServerFindings> {
  return 'url' in address ? serverCheck(address, store, { clock, signal }, commandStart(env)) : { check: address }
}

async function configured({ store, config: file }: ExamineFlags, around: Around): Promise<Configured> {
  const flags = { ...(store !== undefined && { store }) }
  let config: Sources['config']
  try {
    config = await loadConfig(file, around.folder)
  } catch (error) {
    return { checks: [thrown('config', error)], principals: [] }
  }
  const loaded = ok('config', config ? `${config.file} is loaded` : 'There is no config file, and none is needed')
  try {
    const sources = { flags, env: around.env, ...(config && { config }) }
    const chosen = chosenStore(sources, around.folder)
    const { tokens, leaseMs } = readSettings(sources)
    return {
      checks: [loaded, ok('settings', 'All of them are known and right')],
      store: chosen,
      principals: Object.keys(tokens),
      ...(leaseMs !== undefined && { leaseMs }),
    }
  } catch (error) {
    return { checks: [loaded, thrown('settings', error)], principals: [] }
  }
}

async function addressOf(flags: ExamineFlags, around: Around, found: readonly Check[]): Promise<ServerAddress | Check> {
  try {
    // That the config file cannot be loaded is a finding of its own.
    return await serverAddress(flags, around, () => {})
  } catch (error) {
    // Unless the config file was found wanting already.
    if (found.every(({ status }) => status === 'ok')) return thrown('server', error)
    return note('server', 'None was looked for: the settings do not tell where it is')
  }
}
