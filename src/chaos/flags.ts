import { randomInt } from 'node:crypto'
import { parseArgs } from 'node:util'
import type { ChaosOptions } from './chaos.ts'
import { Misuse } from './misuse.ts'
import type { ReleaseOptions } from './release/release.ts'

/** What the program is to do. */
export type Asked =
  | { readonly use: 'help' }
  | { readonly use: 'check'; readonly history: string }
  | { readonly use: 'release'; readonly options: Omit<ReleaseOptions, 'tell'> }
  | { readonly use: 'foreign' | 'own'; readonly options: ChaosOptions }

type Values = ReturnType<typeof valuesOf>

/** What each use of the program takes. What it would not heed it refuses: whoever asked for it would think it was done. */
const uses = {
  help: { of: '--help', takes: ['help'] },
  check: { of: '--check', takes: ['check'] },
  release: { of: 'a release', takes: ['release', 'phase', 'scale', 'seed', 'history'] },
  foreign: { of: '--url', takes: ['url', 'token', 'minutes', 'seed', 'history'] },
  own: { of: 'a run on nodes of its own', takes: ['store', 'nodes', 'minutes', 'seed', 'history'] },
} as const

/** Throws `Misuse` if that cannot be done. */
export function readFlags(args: readonly string[]): Asked {
  const values = valuesOf(args)
  const use = chosenUse(values)
  refuseOthers(use, values)
  if (use === 'help') return { use }
  if (use === 'check') return { use, history: values.check ?? '' }
  if (use === 'release') return { use, options: releaseOptions(values) }
  return { use, options: chaosOptions(values) }
}

function valuesOf(args: readonly string[]) {
  const options = {
    minutes: { type: 'string' },
    seed: { type: 'string' },
    store: { type: 'string' },
    nodes: { type: 'string' },
    url: { type: 'string', multiple: true },
    token: { type: 'string', multiple: true },
    history: { type: 'string' },
    check: { type: 'string' },
    release: { type: 'boolean' },
    phase: { type: 'string', multiple: true },
    scale: { type: 'string' },
    help: { type: 'boolean', short: 'h' },
  } as const
  try {
    return parseArgs({ args: [...args], options }).values
  } catch (error) {
    const [sentence = ''] = error instanceof Error ? error.message.split('. ') : []
    throw new Misuse(`${sentence}. --help has them all`)
  }
}

function chosenUse({ help, check, release, phase, url }: Values): Asked['use'] {
  if (help) return 'help'
  if (check !== undefined) return 'check'
  if (release || phase) return 'release'
  return url ? 'foreign' : 'own'
}

function refuseOthers(use: Asked['use'], values: Values): void {
  const { of, takes } = uses[use]
  const others = Object.keys(values).filter((name) => !takes.some((taken) => taken === name))
  if (others.length === 0) return
  const list = (names: readonly string[]) => names.map((name) => `--${name}`).join(', ')
  throw new Misuse(`${list(others)} cannot be used here: ${of} takes ${list(takes)} alone`)
}

function releaseOptions({ phase, scale, history, seed }: Values): Omit<ReleaseOptions, 'tell'> {
  const part = scale === undefined ? 1 : Number(scale)
  if (!(part > 0 && part <= 1)) throw new Misuse(`--scale is a number above 0 and at most 1, not ${scale}`)
  return {
    seed: seedOf(seed),
    ...(phase && { phases: phase.flatMap((names) => names.split(',')) }),
    scale: part,
    ...(history !== undefined && { folder: history }),
  }
}

function chaosOptions({ minutes, store, nodes, url, token = [], history, seed }: Values): ChaosOptions {
  const isShared = store !== undefined && storeOf(store).startsWith('postgres')
  if (nodes !== undefined && !isShared) throw new Misuse('--nodes cannot be used here: on SQLite there is one')
  return {
    seed: seedOf(seed),
    ...(minutes !== undefined && { minutes: wholeNumber('minutes', minutes) }),
    ...(store !== undefined && { store: storeOf(store) }),
    ...(nodes !== undefined && { nodes: wholeNumber('nodes', nodes) }),
    ...(url && { urls: url.map(urlOf), tokens: tokensOf(token) }),
    ...(history !== undefined && { history }),
  }
}

function tokensOf(given: readonly string[]): Record<string, string> {
  if (given.length === 0) throw new Misuse('--url needs --token PRINCIPAL=TOKEN')
  return Object.fromEntries(given.map(tokenOf))
}

/** A token may itself have an equals sign in it. */
function tokenOf(text: string): [principal: string, token: string] {
  const [, principal, token] = /^([^=]+)=(.+)$/.exec(text) ?? []
  if (principal !== undefined && token !== undefined) return [principal, token]
  throw new Misuse('--token is PRINCIPAL=TOKEN, once for each principal')
}

function urlOf(text: string): string {
  if (/^https?:$/.test(URL.parse(text)?.protocol ?? '')) return text
  throw new Misuse(`--url is http:// or https:// and a host, not ${text}`)
}

/** The store of that name, or at that address. */
function storeOf(text: string): string {
  if (/^(sqlite|postgres):?$/.test(text)) return text.endsWith(':') ? text : `${text}:`
  if (/^postgres(ql)?:\/\//.test(text)) return text
  throw new Misuse(`--store is sqlite, postgres or postgres://…, not ${text}`)
}

function seedOf(text: string | undefined): number {
  return text === undefined ? randomInt(1, 2 ** 31) : wholeNumber('seed', text)
}

function wholeNumber(name: string, text: string): number {
  const value = Number(text)
  if (Number.isSafeInteger(value) && value > 0) return value
  throw new Misuse(`--${name} is a whole number from 1 on, not ${text}`)
}
