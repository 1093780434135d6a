import type { Agents, Limits, OnEnded, Retention, ServeOptions, Store } from '../../index.ts'
import { OriginGuard, Tokens } from '../../server/index.ts'
import { wrong } from '../wrong.ts'
import { counts, list, ofConfigOnly, pairsOf, type Reader, recordOf, shown, textOf } from './readers.ts'
import { serverUrl } from './server-url.ts'
import { isPostgresUrl, postgresUrl } from './store-url.ts'

/** Where clients find the server. */
export const url: Reader<string> = { fromText: serverUrl, fromConfig: serverUrl }

/** An address to listen on. The brackets around an IPv6 address may be left out. */
export const host: Reader<string> = {
  fromText(text) {
    const bare = /^\[([0-9a-f:.]+)\]$/i.exec(text)?.[1] ?? text
    if (/^[0-9a-z_.:-]+$/i.test(bare)) return bare
    throw wrong(`${shown(text)} is no address to listen on, such as 127.0.0.1 or ::1`)
  },
  fromConfig: (value) => host.fromText(textOf(value)),
}

export const store: Reader<string | Store> = {
  fromText(text) {
    if (text === 'memory:' || /^sqlite:./.test(text)) return text
    if (isPostgresUrl(text)) return postgresUrl(text)
    // What has one of these in it may hold a password.
    const shownText = /[@?]/.test(text) ? `${text.split(':')[0]}:…` : text
    throw wrong(`${shown(shownText)} is no store. Use sqlite:PATH, postgres://… or memory:`)
  },
  fromConfig: (value) =>
    typeof value === 'object' && value !== null ? (value as Store) : store.fromText(textOf(value)),
}

/** The one token, whose principal is `owner`. */
export const token: Reader<string> = {
  fromText(text) {
    checkTokens({ owner: text })
    return text
  },
  fromConfig: (value) => token.fromText(typeof value === 'string' ? value : ''),
}

/** Tokens by principal. */
export const tokens: Reader<Readonly<Record<string, string>>> = {
  fromText(text) {
    const twice = (principal: string): string => `${principal} has two tokens. Give each principal one`
    return checkTokens(pairsOf(text, 'PRINCIPAL=TOKEN', twice))
  },
  fromConfig: (value) => checkTokens(recordOf(value) as Record<string, string>),
}

const limitNames: readonly string[] = Object.keys({
  bodyBytes: true,
  eventBytes: true,
  resultBytes: true,
  stepBytes: true,
  jsonDepth: true,
  queuedRunsPerThread: true,
  openTasksPerPrincipal: true,
  executingTasksPerAgent: true,
  liveInputBytesPerThread: true,
  treeDepth: true,
  childrenPerTask: true,
  openQuestionsPerTask: true,
  streamsPerPrincipal: true,
} satisfies Record<keyof Limits, true>)

export const limits: Reader<Partial<Limits>> = counts('limit', limitNames)

const retentionNames: readonly string[] = Object.keys({
  eventsMs: true,
  eventsPerThread: true,
  threadsMs: true,
} satisfies Record<keyof Retention, true>)

/** How long things are kept. */
export const retention: Reader<Retention> = ofConfigOnly('retention', counts('retention', retentionNames).fromConfig)

export const hosts: Reader<readonly string[]> = list((each) => new OriginGuard({ hosts: each }))
export const origins: Reader<readonly string[]> = list((each) => new OriginGuard({ origins: each }))

/** Agents by name; what is wrong with one shows when the runtime opens. */
export const agents: Reader<Agents> = ofConfigOnly('agents', (value) => recordOf(value) as Agents)

/** Says which principal asks. */
export const authenticate = ofConfigOnly('authenticate', functionOf<NonNullable<ServeOptions['authenticate']>>)

/** Called for every task that ends. */
export const onEnded = ofConfigOnly('onEnded', functionOf<OnEnded>)

function functionOf<Code extends (...given: never[]) => unknown>(value: unknown): Code {
  if (typeof value === 'function') return value as Code
  throw wrong(`${shown(value)} is not a function`)
}

function checkTokens(record: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  new Tokens(record)
  return record
}
