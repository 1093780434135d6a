import type { Event } from '../../src/core/event.ts'
import type { Runtime } from '../../src/runtime/runtime.ts'
import { eventsUntil } from './world.ts'

/** Waits until this attempt of a task of thread `t` has begun. */
export async function untilAttempt(runtime: Runtime, attempt: number): Promise<void> {
  const isIt = (event: Event) =>
    (event.type === 'task.started' || event.type === 'task.resumed') && event.data.attempt === attempt
  await eventsUntil(runtime, { thread: 't' }, isIt)
}

/** Never comes to an end by itself, and does not listen. */
export function forever(): Promise<never> {
  return new Promise(() => {})
}
