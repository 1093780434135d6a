import type { Agents, Config, LogLevel } from '../../index.ts'
import { isLoopback } from '../../server/index.ts'
import { nearestHint } from '../nearest.ts'
import { from, wrong } from '../wrong.ts'
import { choice, type Reader, wholeNumber, word } from './readers.ts'
import { checkSettingNames } from './setting-names.ts'
import {
  agents,
  authenticate,
  host,
  hosts,
  limits,
  onEnded,
  origins,
  retention,
  store,
  token,
  tokens,
  url,
} from './setting-readers.ts'

/** What a server is started with, whoever said it. What is absent is left to the defaults of the parts. */
export interface Settings extends Omit<Config, 'url' | 'token'> {
  readonly host: string
  /** None if none is configured. */
  readonly tokens: Readonly<Record<string, string>>
  readonly script: boolean | 'unsafe'
  readonly logLevel: LogLevel
  readonly agents: Agents
}

export interface Sources {
  /** By the names of the settings. */
  readonly flags: Readonly<Record<string, string>>
  readonly env: Readonly<Record<string, string | undefined>>
  /** What the config file exports, and its name. */
  readonly config?: { readonly file: string; readonly values: Readonly<Record<string, unknown>> }
}

const readers: { readonly [Name in keyof Config]-?: Reader<Required<Config>[Name]> } = {
  url,
  port: wholeNumber(0, 65_535),
  host,
  store,
  token,
  tokens,
  ids: word('sequential', 'random'),
  hosts,
  origins,
  trustProxy: choice<boolean>({ '0': false, '1': true }),
  leaseMs: wholeNumber(1),
  graceMs: wholeNumber(0),
  shutdownMs: wholeNumber(0),
  concurrency: wholeNumber(1),
  limits,
  retention,
  script: choice<boolean | 'unsafe'>({ '0': false, '1': true, unsafe: 'unsafe' }),
  logLevel: word<LogLevel>('debug', 'info', 'warn', 'error', 'silent'),
  agents,
  authenticate,
  onEnded,
}

type Name = keyof Config

// The port and the address are flags only: Kubernetes sets HOLDFAST_PORT beside any service of that name.
const variables: Readonly<Record<string, Name>> = {
  HOLDFAST_STORE: 'store',
  HOLDFAST_TOKEN: 'token',
  HOLDFAST_TOKENS: 'tokens',
  HOLDFAST_IDS: 'ids',
  HOLDFAST_HOSTS: 'hosts',
  HOLDFAST_ORIGINS: 'origins',
  HOLDFAST_TRUST_PROXY: 'trustProxy',
  HOLDFAST_LEASE_MS: 'leaseMs',
  HOLDFAST_GRACE_MS: 'graceMs',
  HOLDFAST_SHUTDOWN_MS: 'shutdownMs',
  HOLDFAST_CONCURRENCY: 'concurrency',
  HOLDFAST_LIMITS: 'limits',
  HOLDFAST_SCRIPT: 'script',
  HOLDFAST_LOG_LEVEL: 'logLevel',
}

const flagsOnly: Readonly<Record<string, Name>> = { HOLDFAST_PORT: 'port', HOLDFAST_HOST: 'host' }

export const variableNames: readonly string[] = Object.keys(variables)

/** Where the client commands find a server: of no meaning to one, and no mistake. */
const clientVariables: readonly string[] = ['HOLDFAST_URL']

/** Puts together what flags, environment and config file say, in this order of precedence. */
export function readSettings({ flags, env, config }: Sources): Settings {
  const fromConfig: Config = config ? saidInConfig(config.file, config.values) : {}
  const fromEnv = saidInEnv(env)
  const said: Config = { ...fromConfig, ...fromEnv, ...saidInFlags(flags) }
  // Where clients find the server is of no meaning to it.
  const { url: _url, token: ownersToken, tokens: tokensSaid, ...rest } = said
  const address = rest.host ?? '127.0.0.1'
  return {
    ...rest,
    host: address,
    tokens: allTokens(ownersToken, tokensSaid),
    ...((fromConfig.limits || fromEnv.limits) && { limits: { ...fromConfig.limits, ...fromEnv.limits } }),
    script: rest.script ?? isLoopback(address),
    logLevel: rest.logLevel ?? 'info',
    agents: rest.agents ?? {},
  }
}

function saidInFlags(flags: Readonly<Record<string, string>>): Config {
  return collect(Object.entries(flags), (name, text) => from(`--${name}`, () => readers[name].fromText(text)))
}

function saidInEnv(env: Sources['env']): Config {
  const ours = Object.entries(env).filter(([name]) => name.startsWith('HOLDFAST_') && !isOthers(name, env))
  const read = ours.map(([variable, text = '']) => {
    const name = Object.hasOwn(variables, variable) ? variables[variable] : undefined
    if (name === undefined) {
      throw wrong(`There is no setting ${variable}${instead(variable)}`)
    }
    if (text === '') throw wrong(`${variable} is empty. Give it a value, or unset it`)
    return [name, from(variable, () => readers[name].fromText(text))] as const
  })
  return Object.fromEntries(read)
}

/** What was probably meant. */
function instead(variable: string): string {
  const flag = flagsOnly[variable]
  if (flag !== undefined) return `; use --${flag}, or ${flag} in holdfast.config.ts`
  return nearestHint(variable, variableNames, '. docs/operations.md has them all')
}

function saidInConfig(file: string, values: Readonly<Record<string, unknown>>): Config {
  checkSettingNames(file, values)
  const said = Object.entries(values).filter(([, value]) => value !== undefined)
  return collect(said, (name, value) => from(`${name} in ${file}`, () => readers[name].fromConfig(value)))
}

function collect<Value>(entries: readonly [string, Value][], read: (name: Name, value: Value) => unknown): Config {
  return Object.fromEntries(entries.map(([name, value]) => [name, read(name as Name, value)]))
}

function allTokens(ownersToken: string | undefined, others: Readonly<Record<string, string>> = {}): Settings['tokens'] {
  if (ownersToken === undefined) return others
  if (Object.hasOwn(others, 'owner')) {
    throw wrong('owner has a token in HOLDFAST_TOKENS and is the principal of HOLDFAST_TOKEN. Leave one of them out')
  }
  return from('HOLDFAST_TOKEN and HOLDFAST_TOKENS', () => tokens.fromConfig({ owner: ownersToken, ...others }))
}

/** What others set in our name: the client's, and what Kubernetes tells every pod about a service named holdfast. */
function isOthers(name: string, env: Sources['env']): boolean {
  if (clientVariables.includes(name)) return true
  return env['HOLDFAST_SERVICE_HOST'] !== undefined && /^HOLDFAST_(SERVICE_(HOST|PORT)|PORT)(_|$)/.test(name)
}
