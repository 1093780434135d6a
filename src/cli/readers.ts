import type { Agents, Limits, OnEnded, Retention, ServeOptions, Store } from '../index.ts'
import { OriginGuard, Tokens } from '../server/index.ts'
import { nearest } from './nearest.ts'
import { serverUrl } from './server-url.ts'
import { from, wrong } from './wrong.ts'

/** Reads one setting from a text, as flags and the environment have it, or from the value in a config file. */
export interface Reader<Value> {
  /** Both throw a HoldfastError that says what is wrong with the value, and never the value of a secret. */
  fromText(text: string): Value
  fromConfig(value: unknown): Value
}

const limitNames: readonly string[] = Object.keys({
  bodyBytes: true,
  eventBytes: true,
  resultBytes: true,
  stepBytes: true,
  jsonDepth: true,
  queuedRunsPerThread: true,
  openTasksPerPrincipal: true,
  treeDepth: true,
  childrenPerTask: true,
  openQuestionsPerTask: true,
  streamsPerPrincipal: true,
} satisfies Record<keyof Limits, true>)

/** A whole number within the range. */
export function wholeNumber(min: number, max: number = Number.MAX_SAFE_INTEGER): Reader<number> {
  const takes = max === Number.MAX_SAFE_INTEGER ? `from ${min} on` : `from ${min} to ${max}`
  const fromConfig = (value: unknown): number => {
    if (typeof value === 'number' && Number.isSafeInteger(value) && value >= min && value <= max) return value
    throw wrong(`${shown(value)} is not a whole number ${takes}`)
  }
  return { fromConfig, fromText: (text) => fromConfig(/^[0-9]+$/.test(text) ? Number(text) : text) }
}

/** One of a few words. */
export function word<Word extends string>(...words: readonly Word[]): Reader<Word> {
  const fromConfig = (value: unknown): Word => {
    const found = words.find((each) => each === value)
    if (found !== undefined) return found
    throw wrong(`${shown(value)} is not one of ${words.join(', ')}`)
  }
  return { fromConfig, fromText: fromConfig }
}

/** Words in the environment that stand for values of their own in a config file. */
export function choice<Value>(values: Readonly<Record<string, Value>>): Reader<Value> {
  const takes = (words: readonly unknown[]): string => words.map(String).join(', ')
  return {
    fromText(text) {
      const value = Object.hasOwn(values, text) ? values[text] : undefined
      if (value !== undefined) return value
      throw wrong(`${shown(text)} is not one of ${takes(Object.keys(values))}`)
    },
    fromConfig(value) {
      const found = Object.values(values).find((each) => each === value)
      if (found !== undefined) return found
      throw wrong(`${shown(value)} is not one of ${takes(Object.values(values))}`)
    },
  }
}

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
    if (/^postgres(ql)?:/.test(text)) throw wrong('PostgreSQL is not supported yet. Use sqlite:PATH')
    throw wrong(`${shown(text)} is no store. Use sqlite:PATH or memory:`)
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
    const pairs = text.split(',').map((pair) => pairOf(pair, 'PRINCIPAL=TOKEN'))
    const twice = repeatedIn(pairs)
    if (twice !== undefined) throw wrong(`${twice} has two tokens. Give each principal one`)
    return checkTokens(Object.fromEntries(pairs))
  },
  fromConfig: (value) => checkTokens(recordOf(value) as Record<string, string>),
}

export const limits: Reader<Partial<Limits>> = {
  fromText(text) {
    const pairs = text.split(',').map((pair) => pairOf(pair, 'NAME=NUMBER'))
    const twice = repeatedIn(pairs)
    if (twice !== undefined) throw wrong(`${twice} is given twice. Give each limit one value`)
    return checkLimits(
      Object.fromEntries(pairs.map(([name, value]) => [name, from(name, () => limit.fromText(value))])),
    )
  },
  fromConfig: (value) => checkLimits(recordOf(value)),
}

const retentionNames: readonly string[] = Object.keys({
  eventsMs: true,
  eventsPerThread: true,
  threadsMs: true,
} satisfies Record<keyof Retention, true>)

/** How long things are kept. Only a config file says so. */
export const retention: Reader<Retention> = {
  fromText: () => {
    throw wrong('retention comes from a config file')
  },
  fromConfig(value) {
    const entries = Object.entries(recordOf(value)).map(([name, kept]) => {
      if (!retentionNames.includes(name))
        throw wrong(`There is no ${name} in a retention. The nearest is ${nearest(name, retentionNames)}`)
      return [name, from(name, () => limit.fromConfig(kept))]
    })
    return Object.fromEntries(entries)
  },
}

export const hosts: Reader<readonly string[]> = list((each) => new OriginGuard({ hosts: each }))
export const origins: Reader<readonly string[]> = list((each) => new OriginGuard({ origins: each }))

/** Agents by name. Only a config file has them; what is wrong with one shows when the runtime opens. */
export const agents: Reader<Agents> = {
  fromText: () => {
    throw wrong('agents come from a config file')
  },
  fromConfig: (value) => recordOf(value) as Agents,
}

/** Says which principal asks. Only a config file has it. */
export const authenticate: Reader<NonNullable<ServeOptions['authenticate']>> = functionOfConfig('authenticate')

/** Called for every task that ends. Only a config file has it. */
export const onEnded: Reader<OnEnded> = functionOfConfig('onEnded')

const limit = wholeNumber(1)

function functionOfConfig<Code extends (...given: never[]) => unknown>(name: string): Reader<Code> {
  return {
    fromText: () => {
      throw wrong(`${name} comes from a config file`)
    },
    fromConfig(value) {
      if (typeof value === 'function') return value as Code
      throw wrong(`${shown(value)} is not a function`)
    },
  }
}

function list(check: (values: readonly string[]) => unknown): Reader<readonly string[]> {
  const checked = (values: readonly string[]): readonly string[] => {
    check(values)
    return values
  }
  return {
    fromText: (text) => checked(text.split(',').map((each) => each.trim())),
    fromConfig(value) {
      if (Array.isArray(value)) return checked(value.map(textOf))
      throw wrong(`${shown(value)} is not a list of texts`)
    },
  }
}

function checkTokens(record: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  new Tokens(record)
  return record
}

function checkLimits(record: Readonly<Record<string, unknown>>): Partial<Limits> {
  const entries = Object.entries(record).map(([name, value]) => {
    if (!limitNames.includes(name))
      throw wrong(`There is no limit ${name}. The nearest is ${nearest(name, limitNames)}`)
    return [name, from(name, () => limit.fromConfig(value))]
  })
  return Object.fromEntries(entries)
}

/** The two sides of the first `=`: a token may hold further ones. */
function pairOf(text: string, form: string): [string, string] {
  const [, left, right] = /^([^=]+)=(.*)$/.exec(text.trim()) ?? []
  if (left !== undefined && right !== undefined) return [left.trim(), right.trim()]
  throw wrong(`Not every part between the commas is ${form}`)
}

/** The first name that stands before more than one `=`. */
function repeatedIn(pairs: readonly (readonly [string, string])[]): string | undefined {
  const names = pairs.map(([name]) => name)
  return names.find((name, index) => names.indexOf(name) !== index)
}

function recordOf(value: unknown): Readonly<Record<string, unknown>> {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return { ...value }
  throw wrong(`${shown(value)} is not an object`)
}

function textOf(value: unknown): string {
  if (typeof value === 'string') return value
  throw wrong(`${shown(value)} is not a text`)
}

function shown(value: unknown): string {
  return typeof value === 'object' || typeof value === 'function'
    ? `The ${typeof value}`
    : (JSON.stringify(value) ?? 'Nothing')
}
