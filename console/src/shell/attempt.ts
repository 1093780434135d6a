import { messageOf } from '../design/error-state.tsx'
import { say } from './notices.ts'

/** Lets something happen that has no place of its own to show a refusal, and says so if it is refused. */
export function attempt(asked: Promise<unknown>): void {
  asked.catch((error: unknown) => say(messageOf(error), { isBad: true }))
}
