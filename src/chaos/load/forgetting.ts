import type { ThreadSnapshot } from '../../core/thread-snapshot.ts'
import { threadName } from '../history/entry.ts'
import type { Asker } from './asking.ts'

// About the events of some ten tasks: there is always something to remove, and what follows a task has mostly read it.
const keepMin = 100
const keepMax = 300

/** Deletes a thread that is there to be deleted, with all that goes on in it. */
export async function deleteThread({ world, random, principal, wire }: Asker): Promise<void> {
  const thread = random.pick(world.fleeting[principal] ?? [])
  if (thread === undefined) return
  const name = threadName(principal, thread)
  const { head } = await wire.get<ThreadSnapshot>(`/v1/threads/${thread}`)
  world.recorder.write({ kind: 'deleting', thread: name })
  await wire.deleteThread(thread)
  world.recorder.write({ kind: 'deleted', thread: name, head })
}

/** Prunes the threads of the one principal whose threads may be. */
export async function prune({ world, random, principal, wire }: Asker): Promise<void> {
  if (principal !== world.pruned) return
  const keep = keepMin + random.below(keepMax - keepMin)
  world.recorder.write({ kind: 'pruning', principal, keep })
  const { events } = await wire.post<{ events: number }>('/v1/prune', { eventsPerThread: keep })
  world.recorder.write({ kind: 'pruned', principal, keep, events })
}
