import { HoldfastError } from '../core/errors.ts'
import type { Inbox } from '../core/inbox.ts'
import { checkedPolicy } from '../core/retention.ts'
import type { NodeOptions } from './node-options.ts'
import { registryOf } from './registry.ts'

/** What a node cannot work with shows when it is made, not in the middle of somebody's task. */
export function checkOptions(options: NodeOptions): void {
  const { agents = {}, concurrency, leaseMs, graceMs, limits = {}, retention, onEnded, inbox } = options
  registryOf(agents)
  check(concurrency, 'concurrency is a whole number from 1 on', (count) => Number.isInteger(count) && count >= 1)
  check(leaseMs, 'leaseMs is a number of milliseconds above 0', (ms) => Number.isFinite(ms) && ms > 0)
  check(graceMs, 'graceMs is a number of milliseconds from 0 on', (ms) => Number.isFinite(ms) && ms >= 0)
  for (const [name, limit] of Object.entries(limits)) {
    check(limit, `The limit ${name} is a number from 0 on`, (count) => typeof count === 'number' && count >= 0)
  }
  const { executingTasksPerAgent: executing } = limits
  check(
    executing,
    'The limit executingTasksPerAgent is a whole number from 1 on',
    (count) => Number.isInteger(count) && count >= 1,
  )
  if (retention !== undefined) checkedPolicy(retention)
  if (onEnded !== undefined && typeof onEnded !== 'function') {
    throw new HoldfastError('invalid_request', 'onEnded is a function of a task')
  }
  checkInbox(inbox)
}

export function checkInbox(inbox: Inbox | undefined): void {
  if (inbox === undefined || typeof (inbox as { send?: unknown } | null)?.send === 'function') return
  throw new HoldfastError('invalid_request', 'An inbox is what createInbox makes')
}

function check(value: number | undefined, message: string, isRight: (value: number) => boolean): void {
  if (value !== undefined && !isRight(value)) throw new HoldfastError('invalid_request', message)
}
