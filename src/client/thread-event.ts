import type { Event } from '../core/event.ts'
import type { ThreadSnapshot } from '../core/thread-snapshot.ts'

/** What an agent emits under a name of its own. */
export interface CustomEvent {
  readonly name: string
  readonly payload?: unknown
}

type Envelope = Omit<Extract<Event, { type: 'custom' }>, 'type' | 'data'>

/** An event that tells of a question. */
export type QuestionEvent = Extract<Event, { type: `question.${string}` }>

/** An entry of a thread's log. There may be types that are not in here; a reader ignores them. */
export type ThreadEvent<Custom extends CustomEvent = CustomEvent> =
  | Exclude<Event, { type: 'custom' }>
  | (Envelope & { readonly type: 'custom'; readonly data: Custom })

/** The snapshot as an item of an attachment. What follows it is what follows its `head`. */
export type SnapshotItem = ThreadSnapshot & { readonly type: 'snapshot' }

/** Says that the log does not reach to where the client was, so that it goes on from a snapshot, which comes next. */
export interface NoticeItem {
  readonly type: 'notice'
  readonly code: 'offset_ahead' | 'offset_gone'
  /** The number from which the client could not go on. */
  readonly after: number
  readonly message: string
}

/** What an attachment gives. */
export type AttachItem<Custom extends CustomEvent = CustomEvent> = ThreadEvent<Custom> | SnapshotItem | NoticeItem

/** What a firehose gives. `missed` says that it was cut off and has come back: what happened between is not in it. */
export type FirehoseItem<Custom extends CustomEvent = CustomEvent> = ThreadEvent<Custom> | { readonly type: 'missed' }
