import type { Task } from '../../client/index.ts'
import { exitCodes, outcomeCode } from '../exit-code.ts'

/** The exit code that mirrors how a task ended. One that ran out of its own time ends as a command that did. */
export function mirrored({ status, error }: Pick<Task, 'status' | 'error'>): number {
  return error?.code === 'timeout' ? exitCodes.timeout : outcomeCode(status)
}
