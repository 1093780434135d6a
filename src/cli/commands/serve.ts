import { join } from 'node:path'
import { createRuntime, HoldfastError, type Runtime, serve as serveRuntime } from '../../index.ts'
import { isLoopback, type Server } from '../../server/index.ts'
import { agentsOf } from '../agents.ts'
import { loadConfig } from '../config-file.ts'
import { createLog } from '../log.ts'
import { maskedSettings } from '../masked-settings.ts'
import { readSettings, type Settings } from '../settings.ts'
import { makeStateFolder, stateFolder } from '../state-folder.ts'
import { keptToken } from '../token-file.ts'

export interface ServeFlags {
  readonly port?: string
  readonly host?: string
  readonly store?: string
  readonly config?: string
}

/** The world around a command. */
export interface Surroundings {
  readonly env: Readonly<Record<string, string | undefined>>
  readonly folder: string
  readonly out: (text: string) => void
  readonly err: (text: string) => void
}

// The principal of the token that is made, as of HOLDFAST_TOKEN.
const madeFor = 'owner'

/** Starts a server, and returns when it answers; signals end it. Rejects with what keeps it from starting. */
export async function serve({ config: file, ...flags }: ServeFlags, around: Surroundings): Promise<void> {
  const config = await loadConfig(file, around.folder)
  const settings = readSettings({ flags: { ...flags }, env: around.env, ...(config && { config }) })
  checkReach(settings)
  const folder = stateFolder(around.env)
  const hasTokens = Object.keys(settings.tokens).length > 0
  if (settings.store === undefined || !hasTokens) makeStateFolder(folder)
  const tokens = hasTokens ? settings.tokens : { [madeFor]: keptToken(folder) }
  const store = settings.store ?? `sqlite:${join(folder, 'holdfast.db')}`
  const server = await listen({ ...settings, tokens, store })
  if (!hasTokens) {
    const link = `${server.url}/console#login=${server.newLoginCode(madeFor)}`
    around.err(`Log in once, within 10 minutes: ${link}\n`)
  }
  around.out(`holdfast listening on ${server.url}\n`)
}

/** A token made here is one that nobody elsewhere was given, so a server that others reach needs one they were. */
function checkReach({ host, tokens }: Settings): void {
  if (isLoopback(host) || Object.keys(tokens).length > 0) return
  throw new HoldfastError('invalid_request', `Others can reach ${host}. Set HOLDFAST_TOKEN, or listen on 127.0.0.1`)
}

async function listen(settings: Settings): Promise<Server> {
  const { port, host, store, tokens, hosts, origins, trustProxy, shutdownMs, script, logLevel, agents, ...node } =
    settings
  const log = createLog(logLevel, Object.values(tokens))
  log.debug({ settings: maskedSettings(settings) }, 'Starting')
  const runtime = createRuntime({
    ...node,
    ...(store !== undefined && { store }),
    ...(shutdownMs !== undefined && { shutdownMs }),
    agents: agentsOf({ host, script, agents }),
    log,
  })
  try {
    await runtime.opened()
    const server = await serveRuntime(runtime, {
      host,
      tokens,
      log,
      ...(port !== undefined && { port }),
      ...(hosts && { hosts }),
      ...(origins && { origins }),
      ...(trustProxy !== undefined && { trustProxy }),
      ...(shutdownMs !== undefined && { shutdownMs }),
    })
    log.info({ url: server.url }, 'Listening')
    return server
  } catch (error) {
    await closeQuietly(runtime)
    throw error
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
