import type { HoldfastError } from '../core/errors.ts'
import { isTerminalEvent } from '../core/event.ts'
import type { ThreadSnapshot } from '../core/thread-snapshot.ts'
import { backOffMs } from './back-off.ts'
import { isPassing, retryAfterMs } from './failure.ts'
import type { Step } from './machine.ts'
import { tellsAll } from './picture.ts'
import type { AttachItem, NoticeItem, ThreadEvent } from './thread-event.ts'

/**
 * Where one attachment is in its log, and what it does about it. It begins `new`; it is `reading` while a snapshot is on
 * its way, `following` while the log is asked for or comes, `waiting` before another try, `parked` while nobody takes
 * what came, and `over` for good.
 *
 * M1 Each number is given once, in order. A number that was given is passed over.
 * M2 Without a filter the next number is the one after the last; any other means that something was lost on the way, and
 *    the log is asked for again from the last.
 * M3 A place that the log does not reach is never moved in silence: a notice is given, a snapshot, and what follows it.
 * M4 Who was given a snapshot is given a newer one after an event that does not tell all, and after a cut or a refusal, because a
 *    thread that was emptied meanwhile goes on with the next number as if nothing had been. The log goes on from where it was: every
 *    number still comes, and only who draws the picture passes over what it shows already.
 * M5 After `finish` nothing is done.
 * M6 The live events of all threads have no common numbers and no replay: each is given as it comes, and `missed` whenever they
 *    are followed again, because what happened between is not among them.
 */
export interface Place {
  readonly phase: 'new' | 'reading' | 'following' | 'waiting' | 'parked' | 'over'
  /** The number of the last event that was given, or of the snapshot; absent while a snapshot is due. */
  readonly last?: number | undefined
  /** The head of the last snapshot that was given. */
  readonly picture?: number | undefined
  /** Whether a newer snapshot is due before the log goes on. */
  readonly isStale: boolean
  /** Why the snapshot that is due has to be announced. */
  readonly notice?: NoticeItem
  readonly failures: number
  /** The task whose end ends it. */
  readonly task?: string | undefined
  /** Whether every number is to come. */
  readonly isWhole: boolean
  /** Of the live events of all threads: whether they were followed before. */
  readonly wasLive?: boolean | undefined
}

/** What a place gives. `missed` says that the live events of all threads were cut off and are back. */
export type PlaceItem = AttachItem | { readonly type: 'missed' }

export type PlaceInput =
  | { readonly type: 'start' | 'due' | 'hasten' | 'ended' | 'full' | 'drained' | 'close' }
  /** What is followed comes; `isStale` if its connection broke and another goes on with it. */
  | { readonly type: 'opened'; readonly isStale?: boolean | undefined }
  | { readonly type: 'snapshot'; readonly snapshot: ThreadSnapshot }
  | { readonly type: 'event'; readonly event: ThreadEvent }
  /** What was under way came to nothing, because it was refused or cut off. */
  | { readonly type: 'lost'; readonly error?: HoldfastError | undefined; readonly random: number }

export type PlaceAction =
  /** Read a snapshot; it comes as `snapshot`. */
  | { readonly do: 'read' }
  | { readonly do: 'follow'; readonly after: number }
  /** End the reading, following or waiting that is under way. */
  | { readonly do: 'stop' }
  | { readonly do: 'wait'; readonly ms: number }
  | { readonly do: 'give'; readonly item: PlaceItem }
  | { readonly do: 'finish'; readonly error?: HoldfastError }

type PlaceStep = Step<Place, PlaceAction>

const stop: PlaceAction = { do: 'stop' }

export interface Start {
  readonly after?: number | undefined
  readonly picture?: number | undefined
  readonly task?: string | undefined
  readonly isWhole: boolean
}

export function placeAt({ after, ...start }: Start): Place {
  return { phase: 'new', last: after, isStale: false, failures: 0, ...start }
}

/** Before the live events of all threads. */
export const livePlace: Place = { ...placeAt({ after: 0, isWhole: false }), wasLive: false }

export function resume(place: Place, input: PlaceInput): PlaceStep {
  const { phase } = place
  // Whatever comes too late is passed over.
  const stay: PlaceStep = [place, []]
  if (phase === 'over') return stay
  switch (input.type) {
    case 'start':
      return phase === 'new' ? go(place) : stay
    case 'due':
      return phase === 'waiting' ? go(place) : stay
    case 'hasten':
      return phase === 'waiting' ? go(place, stop) : stay
    case 'drained':
      return phase === 'parked' ? go(place) : stay
    case 'snapshot':
      return phase === 'reading' ? pictured(place, input.snapshot) : stay
    case 'opened':
      return phase === 'following' ? opened(place, input.isStale) : stay
    case 'event':
      return phase === 'following' ? heard(place, input.event) : stay
    case 'full':
      return phase === 'following' ? [{ ...place, phase: 'parked' }, [stop]] : stay
    case 'ended':
      return phase === 'following' ? finished(place) : stay
    case 'lost':
      return phase === 'following' || phase === 'reading' ? lost(place, input.error, input.random) : stay
    case 'close':
      return finished(place)
  }
}

function go(place: Place, ...before: readonly PlaceAction[]): PlaceStep {
  const { last, isStale } = place
  if (last === undefined || isStale) return [{ ...place, phase: 'reading' }, [...before, { do: 'read' }]]
  return [{ ...place, phase: 'following' }, [...before, { do: 'follow', after: last }]]
}

function pictured(place: Place, snapshot: ThreadSnapshot): PlaceStep {
  const { head } = snapshot
  const { notice, ...rest } = place
  const last = place.last ?? head
  const give: PlaceAction = { do: 'give', item: { type: 'snapshot', ...snapshot } }
  const announced: readonly PlaceAction[] = notice ? [{ do: 'give', item: notice }] : []
  return go({ ...rest, last, picture: head, isStale: false }, ...announced, give)
}

function opened(place: Place, isStale?: boolean): PlaceStep {
  const { wasLive, picture } = place
  const next: Place = { ...place, failures: 0, wasLive: wasLive === false || wasLive }
  if (isStale && picture !== undefined) return go({ ...next, isStale }, stop)
  return [next, wasLive ? [{ do: 'give', item: { type: 'missed' } }] : []]
}

function heard(place: Place, event: ThreadEvent): PlaceStep {
  const { last = 0, picture, task, isWhole, wasLive } = place
  const { seq } = event
  if (wasLive !== undefined) return [place, [{ do: 'give', item: event }]]
  if (seq <= last) return [place, []]
  // As if the connection had been lost: what comes next on this one is of no use.
  if (isWhole && seq !== last + 1) return retry(place, 0, 0, stop)
  const next: Place = { ...place, last: seq }
  const give: PlaceAction = { do: 'give', item: event }
  if (task !== undefined && event.task === task && isTerminalEvent(event)) return finished(next, give)
  if (picture === undefined || tellsAll(event, picture)) return [next, [give]]
  return go({ ...next, isStale: true }, give, stop)
}

function retry(place: Place, random: number, retryAfterMs = 0, ...before: readonly PlaceAction[]): PlaceStep {
  const failures = place.failures + 1
  const wait: PlaceAction = { do: 'wait', ms: backOffMs(failures, random, retryAfterMs) }
  return [{ ...place, phase: 'waiting', failures }, [...before, wait]]
}

function lost(place: Place, error: HoldfastError | undefined, random: number): PlaceStep {
  if (!error || isPassing(error)) {
    return retry({ ...place, isStale: place.picture !== undefined }, random, error && retryAfterMs(error))
  }
  const { code, message } = error
  if (code === 'offset_ahead' || code === 'offset_gone') return displaced(place, code, message, random)
  return [{ ...place, phase: 'over' }, [{ do: 'finish', error }]]
}

function displaced(place: Place, code: NoticeItem['code'], message: string, random: number): PlaceStep {
  const { last: after = 0, ...rest } = place
  const next: Place = { ...rest, notice: { type: 'notice', code, after, message } }
  // A log that is refused again right after its snapshot is being deleted over and over; it is left some time.
  if (place.failures > 0) return retry(next, random)
  return go({ ...next, failures: 1 })
}

function finished(place: Place, ...before: readonly PlaceAction[]): PlaceStep {
  return [{ ...place, phase: 'over' }, [...before, stop, { do: 'finish' }]]
}
