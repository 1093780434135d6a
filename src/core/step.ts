import { HoldfastError } from './errors.ts'
import type { JsonText, TaskId } from './id.ts'

export const stepKinds = ['step', 'tool', 'spawn', 'receive', 'wait', 'sleep', 'until', 'ask', 'send'] as const

export type StepKind = (typeof stepKinds)[number]

/** How a step ended. A failure is recorded too: an agent that caught it must meet it again on replay. */
export interface StepFailure {
  readonly name: string
  readonly message: string
  readonly code?: string
}

export interface StepRecord {
  readonly task: TaskId
  /** The path of keys from the outermost step, such as `plan/fetch#2`. */
  readonly key: string
  readonly kind: StepKind
  /** A digest of what the step was given: it tells steps of one key apart, and that of a tool must be the same on replay. */
  readonly input?: string
  readonly value?: JsonText
  readonly failure?: StepFailure
  /** Another step of the task, neither around it nor inside it, was open at the same time. */
  readonly overlapped: boolean
  /** The attempt that recorded it. */
  readonly attempt: number
  /** The thread's head when it was recorded. Filled in by the store. */
  readonly seq: number
}

// A key is part of every event its step emits, so it is kept to the length of a title.
const keyLengthMax = 200

/**
 * A user's key as it stands in a path. What has a meaning there (`/`, `#`, a leading `~`), what would break a line
 * of the log (control characters) and what a database cannot keep (a lone surrogate) is percent-encoded; `%` too, so that two
 * keys never become one.
 */
export function encodeKey(userKey: string): string {
  if (typeof userKey !== 'string' || userKey.length === 0 || userKey.length > keyLengthMax) {
    throw new HoldfastError('invalid_request', `A step key is a string of 1-${keyLengthMax} characters`)
  }
  return percentEncode(userKey).replace(/^~/, '%7E')
}

/**
 * The key of a step that Holdfast itself makes, such as `~sleep` or `~wait:bg_3`. The leading `~` keeps it apart
 * from every key of a user. What it is about is escaped, because a restored task may have any id.
 */
export function builtInKey(word: string, about?: string): string {
  return about === undefined ? `~${word}` : `~${word}:${percentEncode(about)}`
}

function percentEncode(text: string): string {
  return text.replace(/[%/#\p{Cc}\p{Cs}]/gu, (character) => {
    const code = character.charCodeAt(0).toString(16).toUpperCase()
    return code.length > 2 ? `%u${code}` : `%${code.padStart(2, '0')}`
  })
}

/** A path without the ordinal that a second use of its key got. */
export function withoutOrdinal(path: string): string {
  // A key holds no `#` of its own.
  return path.replace(/#\d+$/, '')
}

/**
 * Gives the steps of one attempt their paths. The n-th use of a path gets `#n`, so a loop may use one key throughout;
 * parallel branches that share a key get theirs in the order in which they ask, unless they ask for one by what it was given.
 */
export class StepKeys {
  readonly #used = new Set<string>()
  /** Below it all ordinals of a path are used. */
  readonly #next = new Map<string, number>()

  /**
   * The path of the next step with this encoded key, inside the step whose path is `scope`: the one that `mine` finds, else
   * the first that nobody has and that is `free`.
   */
  take(
    scope: string | undefined,
    key: string,
    mine: (base: string) => string | undefined = () => undefined,
    isFree: (path: string) => boolean = () => true,
  ): string {
    const base = scope === undefined ? key : `${scope}/${key}`
    const path = mine(base) ?? this.#firstFree(base, isFree)
    this.#used.add(path)
    return path
  }

  #firstFree(base: string, isFree: (path: string) => boolean): string {
    const pathOf = (ordinal: number) => (ordinal === 1 ? base : `${base}#${ordinal}`)
    let next = this.#next.get(base) ?? 1
    while (this.#used.has(pathOf(next))) next += 1
    this.#next.set(base, next)
    let ordinal = next
    while (this.#used.has(pathOf(ordinal)) || !isFree(pathOf(ordinal))) ordinal += 1
    return pathOf(ordinal)
  }
}

/** Whether the step at `inner` is somewhere inside the one at `outer`. */
export function contains(outer: string, inner: string): boolean {
  return inner.length > outer.length && inner.startsWith(outer) && inner[outer.length] === '/'
}

/** The paths of all steps around this one, outermost first. */
export function pathsAround(path: string): string[] {
  const paths: string[] = []
  for (let slash = path.indexOf('/'); slash !== -1; slash = path.indexOf('/', slash + 1)) {
    paths.push(path.slice(0, slash))
  }
  return paths
}
