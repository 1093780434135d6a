import { join } from 'node:path'
import { createRuntime, type Runtime, serve as serveRuntime } from '../../index.ts'
import { loginLine, madeTokens, makeStateFolder, type Server, stateFolder } from '../../server/index.ts'
import { agentsOf } from '../agents.ts'
import { loadConfig } from '../config-file.ts'
import { createLog } from '../log.ts'
import { maskedSettings } from '../masked-settings.ts'
import { readSettings, type Settings } from '../settings.ts'

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

/** Starts a server, and returns when it answers; signals end it. Rejects with what keeps it from starting. */
export async function serve({ config: file, ...flags }: ServeFlags, around: Surroundings): Promise<void> {
  const config = await loadConfig(file, around.folder)
  const settings = readSettings({ flags: { ...flags }, env: around.env, ...(config && { config }) })
  const folder = stateFolder(around.env)
  const hasTokens = Object.keys(settings.tokens).length > 0
  // Made here and not by the server, because the log has to know what it must not show.
  const tokens = hasTokens ? settings.tokens : madeTokens(settings.host, folder)
  if (settings.store === undefined) makeStateFolder(folder)
  const store = settings.store ?? `sqlite:${join(folder, 'holdfast.db')}`
  const server = await listen({ ...settings, tokens, store })
  if (!hasTokens) around.err(loginLine(server))
  around.out(`holdfast listening on ${server.url}\n`)
}

async function listen(settings: Settings): Promise<Server> {
  const { port, host, store, tokens, hosts, origins, trustProxy, shutdownMs, script, logLevel, agents, ...node } =
    settings
  const log = createLog(logLevel, Object.values(tokens))
  log.debug({ settings: maskedSettings(settings) }, 'starting')
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
    log.info({ url: server.url }, 'listening')
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
