import { hash } from 'node:crypto'
import type { Event } from '../../core/event.ts'
import type { Message } from '../../core/message.ts'
import type { Task } from '../../core/task.ts'

/** A thread with whom it belongs to, `alice/t0`: two principals may use one id and never meet. */
export type ThreadName = string

export type Transport = 'sse' | 'ws' | 'page'

/**
 * How a stream came to its end: the server said so, the line was cut, the node was lost, the reader left, or what was to be
 * read next is gone.
 */
export type StreamEnd = 'end' | 'cut' | 'lost' | 'left' | 'gone'

/**
 * How often a thread had been asked to be deleted, and how often that was answered, when a request was sent to it. What the
 * request found can only have been removed by a delete that had no answer then, or that was asked for later.
 */
export interface Deletes {
  readonly asked: number
  readonly answered: number
}

/**
 * A line of a history: what a client saw, each written down when it was seen. Nothing here was asked of a node behind
 * the clients' backs, and the checker reads nothing else.
 */
export type HistoryEntry =
  /** Begins a round: a store, or threads, of its own. What stands before it has nothing to do with what follows. */
  | {
      readonly kind: 'round'
      readonly seed: number
      readonly leaseMs: number
      readonly nodes: readonly string[]
      readonly principals: readonly string[]
      readonly at: number
    }
  | { readonly kind: 'fault'; readonly fault: string; readonly node?: string; readonly at: number }
  /** A node was asked to drain, and exited with this code. */
  | { readonly kind: 'drained'; readonly node: string; readonly code: number | null; readonly at: number }
  | { readonly kind: 'unanswered'; readonly by: string; readonly op: string }
  | {
      readonly kind: 'refused'
      readonly by: string
      readonly op: string
      readonly status: number
      readonly code: string
      /** Of what, where that is one thread, or one task of it. */
      readonly thread?: ThreadName
      readonly task?: string
      /** Where a stream was to begin, and the first number that is kept, if it was told that it comes too late. */
      readonly after?: number
      readonly first?: number
    }
  /** A run or a task was accepted. */
  | {
      readonly kind: 'accepted'
      readonly thread: ThreadName
      readonly task: string
      readonly node: string
      /** The number of its last event, as it was answered. */
      readonly seq?: number
      readonly key?: string
      /** The key had been acknowledged before, and whether the answer said that it is a repetition. */
      readonly repeat?: { readonly isTold: boolean }
      readonly steered?: string
      readonly interrupted?: readonly string[]
      readonly deletes?: Deletes
    }
  /** What a cancel took. `left` is how its target was found right after, if it was not taken. */
  | {
      readonly kind: 'cancelled'
      readonly thread: ThreadName
      readonly task?: string
      readonly tasks: readonly string[]
      readonly left?: string
    }
  | {
      readonly kind: 'sent'
      readonly thread: ThreadName
      readonly task: string
      readonly id: string
      readonly digest: string
    }
  | {
      readonly kind: 'settled'
      readonly thread: ThreadName
      /** Whose question it is. */
      readonly task?: string
      readonly question: string
      readonly digest: string
    }
  /** A thread is asked to be deleted, and was. `head` is what it had before it was asked for. */
  | { readonly kind: 'deleting'; readonly thread: ThreadName }
  | { readonly kind: 'deleted'; readonly thread: ThreadName; readonly head: number }
  /** The threads of a principal are asked to be pruned to their newest `keep` events, and were. */
  | { readonly kind: 'pruning'; readonly principal: string; readonly keep: number }
  | { readonly kind: 'pruned'; readonly principal: string; readonly keep: number; readonly events: number }
  | { readonly kind: 'collecting'; readonly thread: ThreadName; readonly tasks: readonly string[] }
  | { readonly kind: 'collected'; readonly thread: ThreadName; readonly tasks: readonly string[] }
  /** A task was read after its end. */
  | {
      readonly kind: 'ended'
      readonly thread?: ThreadName
      readonly task: string
      readonly status: string
      readonly digest: string
      readonly deletes?: Deletes
    }
  /** A snapshot was read: its head, and the newest messages. */
  | {
      readonly kind: 'read'
      readonly thread: ThreadName
      readonly head: number
      readonly messages: readonly (readonly [id: string, digest: string])[]
      readonly deletes?: Deletes
    }
  /** One connection: where it began, what came over it in which order, and how it ended. */
  | {
      readonly kind: 'stream'
      readonly thread: ThreadName
      readonly task?: string
      readonly transport: Transport
      readonly node: string
      readonly after: number
      readonly events: readonly (readonly [seq: number, digest: string])[]
      /** The number of the ending of the task, if that came. */
      readonly ending?: number
      readonly end: StreamEnd
    }
  /** Somebody asked for what is another's. `unknown` is how the same is answered for what does not exist. */
  | {
      readonly kind: 'probe'
      readonly by: string
      readonly path: string
      readonly status: number
      readonly body: string
      readonly unknown: string
    }
  /** Requests that were made to hurt: how many there were, and how often which answer came. */
  | {
      readonly kind: 'hostile'
      readonly node: string
      readonly sent: number
      readonly statuses: Readonly<Record<string, number>>
    }
  /** One of them that was answered as none may be. */
  | { readonly kind: 'hurt'; readonly node: string; readonly what: string; readonly sent: string; readonly got: string }
  /** What a process held in memory, with so many idle streams or after so many hostile requests, and what it may. */
  | {
      readonly kind: 'memory'
      readonly node: string
      readonly idle?: number
      readonly hostile?: number
      readonly bytes: number
      readonly bytesMax: number
    }
  /** A step was executed, as the world outside saw it. */
  | { readonly kind: 'effect'; readonly task: string; readonly key: string; readonly attempt: number }
  /** Asked for, and not there when the round came to a standstill. */
  | { readonly kind: 'missing'; readonly what: string }
  /** No fault is injected any more, and all nodes are there. */
  | { readonly kind: 'calm'; readonly at: number }
  /** A node accepted a run and streamed it to its end after that. */
  | { readonly kind: 'served'; readonly node: string; readonly at: number }
  /** Nothing is waited for any more. `live` did not end. */
  | { readonly kind: 'over'; readonly at: number; readonly live: readonly string[] }
  /** What is there at the end. */
  | { readonly kind: 'log'; readonly thread: ThreadName; readonly node: string; readonly events: readonly Event[] }
  | { readonly kind: 'task'; readonly thread: ThreadName; readonly task: Task }
  | {
      readonly kind: 'thread'
      readonly thread: ThreadName
      readonly head: number
      /** The first number that is kept. */
      readonly first: number
      readonly messages: readonly Message[]
      readonly untaken: readonly string[]
    }
  /** What a client could not make sense of: a frame that cannot be read, an answer that is none. */
  | { readonly kind: 'broken'; readonly what: string }

export type EntryKind = HistoryEntry['kind']
export type EntryOf<Kind extends EntryKind> = Extract<HistoryEntry, { kind: Kind }>

const operations: readonly EntryKind[] = [
  'accepted',
  'cancelled',
  'sent',
  'settled',
  'collected',
  'ended',
  'deleted',
  'pruned',
]

/** Whether an entry tells of an operation that was acknowledged, and not only of something that was read. */
export function isAcknowledged(entry: HistoryEntry): boolean {
  return operations.includes(entry.kind)
}

export function threadName(principal: string, thread: string): ThreadName {
  return `${principal}/${thread}`
}

/** Tells whether two values are the same without keeping either. */
export function digestOf(value: unknown): string {
  return hash('sha1', JSON.stringify(value) ?? '', 'base64url').slice(0, 14)
}
