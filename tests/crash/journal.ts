import { createHash } from 'node:crypto'
import { writeSync } from 'node:fs'
import type { CallPoint } from './counted-store.ts'

/** A keyed request as it was sent, so that the next life can send the very same again. */
export interface Asking {
  readonly key: string
  readonly call: 'run' | 'spawn'
  readonly options: Readonly<Record<string, unknown>>
}

/**
 * What a process under load writes down, each entry after the promise it speaks of has resolved. Whatever stands here
 * was acknowledged, and must still be true however the process died.
 */
export type Entry =
  /** Marks, no acknowledgements: what is about to be done, was refused, went wrong, or is over. */
  | { readonly kind: 'opening' }
  | { readonly kind: 'opened' }
  | { readonly kind: 'asking'; readonly asking: Asking }
  | { readonly kind: 'collecting'; readonly tasks: readonly string[] }
  | { readonly kind: 'refused'; readonly call: string; readonly code: string; readonly isReady?: boolean }
  | { readonly kind: 'broken'; readonly what: string }
  | { readonly kind: 'closing' }
  | { readonly kind: 'closed' }
  | { readonly kind: 'drained' }
  | { readonly kind: 'called'; readonly point: CallPoint }
  /** A run or spawn was accepted. */
  | {
      readonly kind: 'accepted'
      readonly task: string
      readonly thread: string
      readonly key?: string
      readonly steered?: string
      readonly interrupted?: readonly string[]
    }
  | { readonly kind: 'sent'; readonly task: string; readonly id: string; readonly token: string }
  | { readonly kind: 'cancelled'; readonly tasks: readonly string[] }
  /** A question was answered, with this. */
  | { readonly kind: 'settled'; readonly thread: string; readonly question: string; readonly answer: string }
  | { readonly kind: 'collected'; readonly thread: string; readonly tasks: readonly string[] }
  /** A task was read after its end. */
  | { readonly kind: 'ended'; readonly task: string; readonly status: string; readonly digest: string }
  /** A call of an agent through `ctx` was answered; `step` names it within its task. */
  | { readonly kind: 'answered'; readonly task: string; readonly step: string; readonly value: string }
  /** A subscriber was given an event. */
  | { readonly kind: 'saw'; readonly thread: string; readonly seq: number; readonly digest: string }
  /** A subscription to one task ended, after these events. */
  | {
      readonly kind: 'watched'
      readonly thread: string
      readonly task: string
      readonly after: number
      readonly seqs: readonly number[]
    }
  /** A snapshot was read. */
  | {
      readonly kind: 'read'
      readonly thread: string
      readonly head: number
      readonly messages: readonly (readonly [id: string, digest: string])[]
    }

export type EntryKind = Entry['kind']

const operations: readonly EntryKind[] = ['accepted', 'sent', 'cancelled', 'settled', 'collected', 'ended', 'answered']

/** Whether an entry tells of an operation that was acknowledged, and not only of something that was read. */
export function isAcknowledged(entry: Entry): boolean {
  return operations.includes(entry.kind)
}

/** Where entries go. What was written outlives the process. */
export type Journal = (entry: Entry) => void

// Not standard output, which Node makes non-blocking.
const pipeDescriptor = 3

/** The journal of a child: the pipe to its harness, which keeps what is in it when the child dies. */
export const pipeJournal: Journal = (entry) => {
  writeSync(pipeDescriptor, `${JSON.stringify(entry)}\n`)
}

/** The entry of a line, or undefined for one that a kill has torn. */
export function parseEntry(line: string): Entry | undefined {
  try {
    return JSON.parse(line) as Entry
  } catch {
    // Only the last line of a life can be torn; it acknowledges nothing.
    return undefined
  }
}

/** Tells whether two values are the same without keeping either. */
export function digestOf(value: unknown): string {
  return createHash('sha256').update(JSON.stringify(value)).digest('base64url').slice(0, 16)
}
