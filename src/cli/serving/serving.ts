import { join } from 'node:path'
import {
  type Config,
  type CreateRuntimeOptions,
  createRuntime,
  isHoldfastError,
  type Runtime,
  serve as serveRuntime,
} from '../../index.ts'
import { checkAddress, loginLine, madeTokens, makeStateFolder, type Server, stateFolder } from '../../server/index.ts'
import { loadConfig } from '../settings/config-file.ts'
import { maskedSettings } from '../settings/masked-settings.ts'
import { readSettings, type Settings } from '../settings/settings.ts'
import { storeSecrets } from '../settings/store-url.ts'
import type { Surroundings } from '../surroundings.ts'
import { agentsOf } from './agents.ts'
import { type Assistant, assistantOf, providerKeys } from './assistant.ts'
import { giveBackMemory } from './give-back.ts'
import { createLog } from './log.ts'
import { withWayOut } from './start-conflict.ts'
import { limitYoungSpace } from './young-space.ts'

export interface ServeFlags {
  readonly port?: string
  readonly host?: string
  readonly store?: string
  readonly config?: string
}

/** What a command leaves to the start that a plain server decides otherwise. */
export interface StartOptions {
  /** Count where nobody said anything. */
  readonly defaults?: Pick<Config, 'shutdownMs' | 'logLevel'>
  /** The port to try instead of one that another program listens on; without one the start fails. */
  readonly nextPort?: (taken: number) => number | undefined
}

export interface Started {
  readonly server: Server
  readonly runtime: Runtime
  readonly settings: Settings
  /** Nobody configured who may ask, so a token was made. */
  readonly isTokenMade: boolean
  /** What came of the key of a provider, if there is one. */
  readonly assistant?: Assistant
}

/** Starts a server, and returns when it answers; signals end it. Rejects with what keeps it from starting. */
export async function serve(flags: ServeFlags, around: Surroundings): Promise<void> {
  const started = await start(flags, around)
  if (started.isTokenMade) around.err(loginLine(started.server))
  if (started.assistant && !started.assistant.agent) around.err(`holdfast: ${started.assistant.line}\n`)
  around.out(listeningLine(started.server))
}

/** What tells whoever started it that it answers. */
export function listeningLine({ url }: Server): string {
  return `holdfast listening on ${url}\n`
}

export async function start(flags: ServeFlags, around: Around, options: StartOptions = {}): Promise<Started> {
  const said = await settingsOf(flags, around, options)
  const folder = stateFolder(around.env)
  // A program that says who is asking is configured as well as a token is.
  const isConfigured = said.authenticate !== undefined || Object.keys(said.tokens).length > 0
  // Made here and not by the server, because the log has to know what it must not show.
  const tokens = isConfigured ? said.tokens : madeTokens(said.host, folder)
  if (said.store === undefined) makeStateFolder(folder)
  const settings = { ...said, tokens, store: said.store ?? `sqlite:${join(folder, 'holdfast.db')}` }
  const listening = await listen(settings, around.env, options).catch(async (error: unknown) => {
    throw await withWayOut(error, around.clock)
  })
  return { ...listening, settings, isTokenMade: !isConfigured }
}

async function settingsOf(
  { config: file, ...flags }: ServeFlags,
  { env, folder }: Around,
  { defaults }: StartOptions,
): Promise<Settings> {
  const config = await loadConfig(file, folder)
  const settings = readSettings({ flags: { ...flags }, env, ...(config && { config }) })
  const isLevelSaid = env['HOLDFAST_LOG_LEVEL'] !== undefined || config?.values['logLevel'] !== undefined
  return { ...defaults, ...settings, logLevel: (isLevelSaid ? undefined : defaults?.logLevel) ?? settings.logLevel }
}

type Listening = Pick<Started, 'server' | 'runtime' | 'assistant'>

async function listen(settings: Settings, env: Around['env'], options: StartOptions): Promise<Listening> {
  const { port, host, tokens, hosts, origins, trustProxy, shutdownMs, authenticate } = settings
  const log = createLog(settings.logLevel, secretsOf(settings, env))
  log.debug({ settings: maskedSettings(settings) }, 'starting')
  const isReplaced = Object.hasOwn(settings.agents, 'assistant')
  const assistant = isReplaced ? undefined : await assistantOf(env, () => runtime)
  if (assistant) log.info({}, assistant.line)
  // A runtime takes over what was begun: who is not to listen here is not to execute either.
  const free = await onFreePort(port, options, (chosen) => checkAddress(host, chosen).then(() => chosen))
  const runtime: Runtime = createRuntime({
    ...runtimeOptions(settings),
    agents: agentsOf(settings, assistant?.agent),
    log,
  })
  try {
    await runtime.opened()
    const server = await onFreePort(free, options, (chosen) =>
      serveRuntime(runtime, {
        host,
        tokens,
        log,
        ...(chosen !== undefined && { port: chosen }),
        ...(hosts && { hosts }),
        ...(origins && { origins }),
        ...(trustProxy !== undefined && { trustProxy }),
        ...(authenticate && { authenticate }),
        ...(shutdownMs !== undefined && { shutdownMs }),
      }),
    )
    giveBackMemory()
    limitYoungSpace([...process.execArgv, env['NODE_OPTIONS'] ?? ''])
    const { node } = await runtime.info()
    log.info({ url: server.url, node, pid: process.pid }, 'listening')
    return { server, runtime, ...(assistant && { assistant }) }
  } catch (error) {
    await closeQuietly(runtime)
    throw error
  }
}

function secretsOf({ tokens, store }: Settings, env: Around['env']): string[] {
  return [...Object.values(tokens), ...providerKeys(env), ...storeSecrets(store, env)]
}

/** What of the settings is the runtime's. */
function runtimeOptions(settings: Settings): CreateRuntimeOptions {
  const { port: _port, host: _host, tokens: _tokens, hosts: _hosts, origins: _origins, ...rest } = settings
  const { trustProxy: _proxy, authenticate: _who, script: _script, logLevel: _level, agents: _agents, ...own } = rest
  return own
}

async function onFreePort<Result>(
  port: number | undefined,
  options: StartOptions,
  open: (port: number | undefined) => Promise<Result>,
): Promise<Result> {
  try {
    return await open(port)
  } catch (error) {
    const { reason, port: taken } = isHoldfastError(error, 'cannot_listen') ? error.facts : {}
    const next = reason === 'EADDRINUSE' && typeof taken === 'number' ? options.nextPort?.(taken) : undefined
    if (next === undefined) throw error
    return onFreePort(next, options, open)
  }
}

/** Hands over what it may have resumed; that it does not close matters less than why it did not start. */
async function closeQuietly(runtime: Runtime): Promise<void> {
  try {
    await runtime.close({ drainMs: 0 })
  } catch {
    // It never opened, which is what is reported.
  }
}

type Around = Pick<Surroundings, 'env' | 'folder' | 'clock'>
