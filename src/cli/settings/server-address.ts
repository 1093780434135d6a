import { readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { isLoopback } from '../../server/host.ts'
import { stateFolder } from '../../server/state-folder.ts'
import { errorMessage } from '../error-message.ts'
import type { Surroundings } from '../surroundings.ts'
import { from, wrong } from '../wrong.ts'
import { loadConfig } from './config-file.ts'
import { portDefault, serverUrl } from './server-url.ts'
import { checkSettingNames } from './setting-names.ts'
import type { Sources } from './settings.ts'

export interface ServerAddress {
  readonly url: string
  /** Absent if nobody said one and the server is not of this machine. */
  readonly token?: string
  /** What said the token, for a person who has another one in mind. */
  readonly tokenFrom?: string
}

// Anything else cannot be sent, which would look like a server that cannot be reached.
const tokenText = /^[!-~]+$/

const anyAddress: readonly string[] = ['0.0.0.0', '::', '[::]']

/**
 * Where a command finds its server: flags count before the environment, that before the config file, that before the defaults. Where
 * it is said which server is asked, a config file that cannot be loaded, because it wants what only its server has, is done without,
 * and `warn` is told so. Else it is refused: a guess might be another's server, which would be told the token.
 */
export async function serverAddress(
  flags: { readonly url?: string; readonly token?: string; readonly config?: string },
  { env, folder }: Pick<Surroundings, 'env' | 'folder'>,
  warn: (message: string) => void,
): Promise<ServerAddress> {
  const said = {
    url: flags.url === undefined ? fromEnv(env, 'HOLDFAST_URL', serverUrl) : from('--url', () => serverUrl(flags.url)),
    ...saidToken(flags.token, env),
  }
  // A config file is a program; it is run only where it is needed.
  const needsConfig = said.url === undefined || said.token === undefined
  const loading = () => loadConfig(flags.config, folder).catch(said.url === undefined ? refuse : doWithout(warn))
  const configured = needsConfig ? fromConfig(await loading(), folder) : {}
  const url = said.url ?? configured.url ?? `http://127.0.0.1:${portDefault}`
  const { token, tokenFrom } = [said, configured].find((source) => source.token !== undefined) ?? localToken(url, env)
  if (token === undefined || tokenFrom === undefined) return { url }
  if (!tokenText.test(token)) throw wrong('The token has to be visible ASCII without a space. Give that of the server')
  return { url, token, tokenFrom }
}

type SaidToken = Pick<ServerAddress, 'token' | 'tokenFrom'>

function saidToken(flag: string | undefined, env: Surroundings['env']): SaidToken {
  if (flag !== undefined) return { token: flag, tokenFrom: '--token' }
  const token = fromEnv(env, 'HOLDFAST_TOKEN', String)
  return token === undefined ? {} : { token, tokenFrom: 'HOLDFAST_TOKEN' }
}

function fromEnv(env: Surroundings['env'], name: string, read: (text: string) => string): string | undefined {
  const text = env[name]
  if (text === undefined) return undefined
  if (text === '') throw wrong(`${name} is empty. Give it a value, or unset it`)
  return from(name, () => read(text))
}

function refuse(error: unknown): never {
  throw wrong(`${errorMessage(error).replace(/\.?$/, '.')} Say which server with --url or HOLDFAST_URL`)
}

function doWithout(warn: (message: string) => void): (error: unknown) => undefined {
  return (error) => void warn(`${errorMessage(error)}; this command does without it`)
}

/** What a config file says of where its server is and who may ask it. */
function fromConfig(config: Sources['config'], folder: string): Partial<ServerAddress> {
  if (!config) return {}
  const { file, values } = config
  checkSettingNames(file, values)
  const { url, host, port } = values
  const { owner } = (values['tokens'] ?? {}) as { readonly owner?: unknown }
  const token = values['token'] ?? owner
  return {
    ...(url !== undefined && { url: from(`url in ${file}`, () => serverUrl(url)) }),
    ...(url === undefined && (host ?? port) !== undefined && { url: listensOn(file, host, port) }),
    ...(typeof token === 'string' && { token, tokenFrom: `the config file ${resolve(folder, file)}` }),
  }
}

function listensOn(file: string, host: unknown = '127.0.0.1', port: unknown = portDefault): string {
  const name = anyAddress.includes(String(host)) ? '127.0.0.1' : String(host)
  const bracketed = name.includes(':') && !name.startsWith('[') ? `[${name}]` : name
  return from(`host and port in ${file}`, () => serverUrl(`http://${bracketed}:${String(port || portDefault)}`))
}

/** The token that a server of this machine made for itself. It is told to no other machine. */
function localToken(url: string, env: Surroundings['env']): SaidToken {
  if (!isLoopback(new URL(url).hostname)) return {}
  const file = join(stateFolder(env), 'token')
  try {
    const token = readFileSync(file, 'utf8').trim()
    return token === '' ? {} : { token, tokenFrom: `the file ${file}` }
  } catch {
    // None was made, or it is another's: the server will say that one is needed.
    return {}
  }
}
