import type { ThreadEvent } from '../../../../src/client/index.ts'

/** An event as a client gets it. */
export function event(seq: number, type: string, data: object, task = 'bg_0'): ThreadEvent {
  return { thread: 't', seq, task, type, at: 0, data } as unknown as ThreadEvent
}
