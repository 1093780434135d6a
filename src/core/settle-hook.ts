import type { Decision } from './decision.ts'
import type { HookPut } from './hook.ts'
import type { LiveThread } from './live-thread.ts'
import type { TaskRecord } from './task.ts'

/**
 * Says what became of a call of `onEnded`. It carries no revision: only the node that made the call writes it, and what it
 * says is true whatever else has happened to the thread. Of a thread that was erased meanwhile it finds nothing to write.
 */
export function settleHook({ key }: LiveThread, put: HookPut): Decision<undefined> {
  return { unit: { operation: 'hook', thread: key, events: [], hooks: [put] }, value: undefined }
}

/**
 * Claims the next call of `onEnded` for one node: until that instant it is due for nobody else. Whoever is first uses a key up, as a
 * request does with its idempotency key; it names the hook as it was read, so the claim of one that is due again is another.
 * A request's key has no space in it.
 */
export function claimHook({ key: thread }: LiveThread, record: TaskRecord, until: number): Decision<undefined> {
  const { id: task, hook = { attempts: 0 } } = record
  const key = { key: `hook ${task} ${hook.attempts} ${hook.nextAt ?? 0}`, digest: 'hook', task }
  const hooks = [{ task, hook: { ...hook, nextAt: until } }]
  return { unit: { operation: 'hook', thread, events: [], hooks, key }, value: undefined }
}
