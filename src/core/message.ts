import type { TaskId, ThreadId } from './id.ts'

/** A piece of a message: said, thought, done with a tool, or shown. */
export type Part =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'reasoning'; readonly text: string }
  | {
      readonly type: 'tool'
      readonly id: string
      readonly name: string
      readonly input: unknown
      readonly output?: unknown
      readonly error?: string
    }
  | { readonly type: 'file'; readonly mediaType: string; readonly name?: string; readonly url: string }
  | { readonly type: 'data'; readonly name: string; readonly value: unknown }

/** Who said a message. */
export type Role = 'user' | 'assistant' | 'system' | 'tool'
/** How the run behind a message of the assistant ended. */
export type Finish = 'end_turn' | 'cancelled' | 'error' | 'timeout'

/** What was said in a thread. Its `seq` is the number of its `message.created`. */
export interface Message {
  readonly id: string
  readonly thread: ThreadId
  readonly seq: number
  readonly role: Role
  readonly parts: readonly Part[]
  readonly finish?: Finish
  readonly task?: TaskId
  readonly at: number
}
