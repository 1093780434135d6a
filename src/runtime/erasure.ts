import type { Decision, Surroundings } from '../core/decision.ts'
import { cancelToErase, erase, trimIdle } from '../core/erase.ts'
import type { TaskId, ThreadKey } from '../core/id.ts'
import type { LiveThread } from '../core/live-thread.ts'
import { dropTasks } from '../core/retention.ts'
import type { Store } from '../stores/store.ts'
import { type Clock, expiry } from './clock.ts'
import { intent } from './entry.ts'
import type { Feed } from './feed.ts'
import { inTime } from './in-time.ts'
import type { Signals } from './signals.ts'
import type { Writer } from './writer.ts'

export interface ErasureParts {
  readonly store: Store
  readonly writer: Writer
  readonly signals: Signals
  readonly feed: Pick<Feed, 'endWatchers'>
  readonly clock: Clock
  /** Whether other nodes are there, which may have readers of the thread. */
  readonly hasOthers: boolean
}

// How late an end is noticed that no signal told of: one that another node committed.
const recheckMs = 1_000

// Longer than a node takes to find what no notice told it of: its readers have seen the ends by then.
const readersMs = 1_500

// A store removes so much within a second, and all that others write waits for it. Of events that were ever written, because
// tasks are never more than those.
const longLogEvents = 100_000

const reason = 'the thread is deleted'
const tooLong = 'The store did not remove the thread in time; ask again, and the rest of it goes'

/**
 * Cancels all that lives in a thread, waits until it has ended, and removes everything but its numbers. What is accepted
 * meanwhile is cancelled as well; what is accepted after the erase is in it, the first of the emptied thread. The grace
 * time bounds each wait. Of a thread that is empty nothing is stored; whoever reads it here is ended as of any other. Readers on
 * other nodes are given the time to see what has ended.
 *
 * Whoever dies in between leaves a thread whose tasks are cancelled, and perhaps some of it gone: asked again, the rest is done.
 */
export async function eraseThread(parts: ErasureParts, thread: ThreadKey, by: string): Promise<void> {
  const { store, writer, feed } = parts
  const decide = (live: LiveThread, around: Surroundings) => eraseOrCancel(live, around, by)
  for (;;) {
    const { head, first } = await store.events(thread, { after: 0, limit: 1 })
    if (head < first) return feed.endWatchers(thread)
    if (head >= longLogEvents) await shorten(writer, thread, head)
    const done = await inTime(writer.change(intent(thread, 'erase', decide)), tooLong)
    if ('refusal' in done) continue
    if (!done.value) return
    await ended(parts, thread, done.value)
    if (parts.hasOthers) await expiry(parts.clock, readersMs).expired
  }
}

/** Answers with what has to end first, or undefined if there is nothing. */
function eraseOrCancel(live: LiveThread, around: Surroundings, by: string): Decision<readonly TaskId[] | undefined> {
  const { unit, value: isErased } = erase(live, around)
  if (isErased) return { ...(unit && { unit }), value: undefined }
  return cancelToErase(live, around, { by, reason })
}

/**
 * Removes log and tasks, with what was said in them, a piece at a time, once nothing lives in the thread: what others write goes in
 * between. The last event stays, because a thread without one counts as emptied.
 */
async function shorten(writer: Writer, thread: ThreadKey, head: number): Promise<void> {
  const pieces = [
    (live: LiveThread) => trimIdle(live, head - 1),
    (live: LiveThread): Decision<boolean> => dropTasks(live, live.rev),
  ]
  for (const decide of pieces) {
    for (let isMore = true; isMore; ) {
      const done = await inTime(writer.change(intent(thread, 'erase', decide)), tooLong)
      const removed = 'refusal' in done ? undefined : done.verdict?.removed
      isMore = removed !== undefined && removed.events + removed.tasks > 0
    }
  }
}

/** Resolves when these have ended. Signals are hints, so the store is asked as well, first and every so often. */
async function ended(parts: ErasureParts, thread: ThreadKey, tasks: readonly TaskId[]): Promise<void> {
  const { store, signals, clock } = parts
  for (let waiting = new Set(tasks); ; ) {
    const listeners = [...waiting].map((task) => ({ task, ...signals.listen(`end:${task}`) }))
    for (const task of waiting) signals.locate(task, thread)
    const recheck = expiry(clock, recheckMs)
    try {
      const live = await store.livePart(thread)
      waiting = waiting.intersection(new Set(live?.tasks.map((task) => task.id)))
      if (waiting.size === 0) return
      const heard = listeners.filter(({ task }) => waiting.has(task)).map((listener) => listener.heard)
      await Promise.race([Promise.all(heard), recheck.expired])
    } finally {
      recheck.cancel()
      for (const listener of listeners) listener.stop()
    }
  }
}
