import type { TaskErrorCode } from './errors.ts'
import { contains, pathsAround, type StepKind, type StepRecord, withoutOrdinal } from './step.ts'

/** The agent's version that made the record, and the one that replays it, where they are stated. */
export interface Versions {
  readonly recorded?: string | undefined
  readonly current?: string | undefined
}

/** The agent does not do what its record says it did. Whoever executes it fails the task with this code. */
export class ReplayMismatch extends Error {
  override readonly name = 'ReplayMismatch'
  readonly code: TaskErrorCode = 'replay_mismatch'
  /** The path of the step at fault. */
  readonly key: string

  constructor(key: string, message: string) {
    super(message)
    this.key = key
  }
}

/**
 * Answers the steps of a resumed task from their record, and checks that the agent still takes them.
 *
 * Y1 A recorded step is found by its path, never by its position, and is answered, never executed.
 * Y2 A step that answers from its record is not entered, so it answers for all recorded steps inside it.
 * Y3 While steps never overlapped, all that is recorded is asked for before anything new. Only a step that was open
 *    at the crash is new and yet earlier than a recorded one: it is around every recorded step still unasked.
 * Y4 Where steps overlapped, branches come to theirs in any order, so only the end tells what was never asked for.
 * Y5 A step that is entered again is checked before its result is recorded, because from then on it answers for what is
 *    inside it (Y2) and nothing would be found out any more.
 * Y6 A mismatch is final: an agent that catches it meets it again at its next step, and its task fails for it whatever
 *    the agent makes of it.
 * Y7 Steps of one key that were given something are told apart by it, so each branch finds its own in whatever order they
 *    come. Where steps overlapped, one that was given something else than every recorded one is new.
 *
 * Not promised: a parallel branch that waits for something else than a step, and whose steps have by chance never
 * overlapped another's, looks like a sequence and is held to Y3. Branches that share a key, where nothing recorded tells
 * their steps apart (functions, reads of the inbox, steps that were still open), get its ordinals in the order in which they
 * ask, which may be another on replay: a step around each branch keeps them apart.
 */
export class Replay {
  readonly #records: ReadonlyMap<string, StepRecord>
  readonly #versions: Versions
  readonly #hasOverlap: boolean
  readonly #unasked = new Set<string>()
  /** The paths of steps that were given something, by key, kind and what it was; the one recorded first stands last. */
  readonly #alike = new Map<string, string[]>()
  /** The unasked steps inside each path that has any. */
  readonly #unaskedInside = new Map<string, Set<string>>()
  #mismatch: ReplayMismatch | undefined

  constructor(records: readonly StepRecord[], versions: Versions = {}) {
    this.#records = new Map(records.map((record) => [record.key, record]))
    this.#versions = versions
    this.#hasOverlap = records.some((record) => record.overlapped)
    for (const { key, kind, input } of records) {
      this.#unasked.add(key)
      if (input !== undefined) {
        const likeness = likenessOf(withoutOrdinal(key), kind, input)
        const paths = this.#alike.get(likeness) ?? []
        paths.push(key)
        this.#alike.set(likeness, paths)
      }
      for (const outer of pathsAround(key)) {
        const inside = this.#unaskedInside.get(outer) ?? new Set()
        this.#unaskedInside.set(outer, inside.add(key))
      }
    }
    for (const paths of this.#alike.values()) paths.reverse()
  }

  /** Whether recorded steps have not been asked for yet. */
  get isReplaying(): boolean {
    return this.#unasked.size > 0
  }

  /** The mismatch that was found, if any (Y6). */
  get mismatch(): ReplayMismatch | undefined {
    return this.#mismatch
  }

  /** The path of a recorded step of this key that was given the same and was not asked for yet (Y7). */
  alike(base: string, kind: StepKind, input: string): string | undefined {
    const paths = this.#alike.get(likenessOf(base, kind, input)) ?? []
    for (let path = paths.at(-1); path !== undefined; path = paths.at(-1)) {
      if (this.#unasked.has(path)) return path
      paths.pop()
    }
    return undefined
  }

  /** Whether a step that is like no recorded one may stand at this path (Y7). How long a sleep was to be may vary. */
  isFree(path: string, kind: StepKind): boolean {
    return kind === 'sleep' || !this.#hasOverlap || this.#records.get(path)?.kind !== kind
  }

  /** The record of the step at this path, or undefined if it is to be executed. Throws a `ReplayMismatch`. */
  ask(path: string, kind: StepKind, input?: string): StepRecord | undefined {
    if (this.#mismatch) throw this.#mismatch
    const record = this.#records.get(path)
    if (!record) {
      this.#checkNew(path, kind)
      return undefined
    }
    if (record.kind !== kind) this.#mismatchAt(path, `step "${path}" is recorded as ${record.kind}, but is now ${kind}`)
    if (isChecked(kind) && record.input !== undefined && record.input !== input) {
      this.#mismatchAt(path, `step "${path}" (${kind}) is recorded with another input than it has now`)
    }
    this.#markAsked(path)
    this.#markInside(path)
    return record
  }

  /**
   * To be called when the agent has returned, and with its path when an executed step has, before its result is
   * recorded. Throws a `ReplayMismatch` if recorded steps (inside it) were never asked for.
   */
  finish(path?: string): void {
    if (this.#mismatch) throw this.#mismatch
    const [missing] = path === undefined ? this.#unasked : (this.#unaskedInside.get(path) ?? [])
    if (missing === undefined) return
    this.#mismatchAt(
      missing,
      `step "${missing}" (${this.#records.get(missing)?.kind}) is recorded, but was never asked for`,
    )
  }

  /**
   * To be called instead when an executed step has thrown. It may have failed on its way to the recorded steps inside
   * it, which is no change of the agent; once its failure is recorded they are never asked for.
   */
  fail(path: string): void {
    if (this.#mismatch) throw this.#mismatch
    this.#markInside(path)
  }

  #checkNew(path: string, kind: StepKind): void {
    if (this.#hasOverlap) return
    const missing = this.#unaskedOutside(path)
    if (missing === undefined) return
    const recorded = `step "${missing}" (${this.#records.get(missing)?.kind}) is recorded`
    this.#mismatchAt(path, `step "${path}" (${kind}) is new, but ${recorded} and was not asked for before it`)
  }

  #unaskedOutside(path: string): string | undefined {
    for (const key of this.#unasked) if (!contains(path, key)) return key
    return undefined
  }

  #markAsked(key: string): void {
    this.#unasked.delete(key)
    for (const outer of pathsAround(key)) this.#unaskedInside.get(outer)?.delete(key)
  }

  #markInside(path: string): void {
    for (const inner of this.#unaskedInside.get(path) ?? []) this.#markAsked(inner)
  }

  #mismatchAt(key: string, what: string): never {
    const { recorded, current } = this.#versions
    const versions =
      recorded === undefined && current === undefined
        ? ''
        : ` The record was made by version ${recorded ?? 'unstated'} of the agent, this is version ${current ?? 'unstated'}.`
    this.#mismatch = new ReplayMismatch(
      key,
      `The agent no longer takes the steps it has recorded: ${what}.${versions} Run the version that made the record, or spawn the task anew.`,
    )
    throw this.#mismatch
  }
}

// The child is there, the instant is fixed, it was asked, it was sent.
const uncheckedKinds: readonly StepKind[] = ['spawn', 'sleep', 'ask', 'send']

/** What a step of these kinds was given only tells it from others. */
function isChecked(kind: StepKind): boolean {
  return !uncheckedKinds.includes(kind)
}

function likenessOf(base: string, kind: StepKind, input: string): string {
  return `${kind} ${input} ${base}`
}
