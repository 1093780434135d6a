import type { Decision } from './decision.ts'
import type { HookPut } from './hook.ts'
import type { LiveThread } from './live-thread.ts'

/**
 * Says what became of a call of `onEnded`. It carries no revision: only the node that made the call writes it, and what it
 * says is true whatever else has happened to the thread. Of a thread that was erased meanwhile it finds nothing to write.
 */
export function settleHook({ key }: LiveThread, put: HookPut): Decision<undefined> {
  return { unit: { operation: 'hook', thread: key, events: [], hooks: [put] }, value: undefined }
}
