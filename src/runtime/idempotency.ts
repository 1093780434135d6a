import type { TaskRequest } from '../core/accept.ts'
import { HoldfastError, isHoldfastError } from '../core/errors.ts'
import type { ThreadKey } from '../core/id.ts'
import { isQueued, positionsOf } from '../core/position.ts'
import type { OnBusy } from '../core/prompt.ts'
import { rememberedRequest } from '../core/steered-digest.ts'
import { type Task, type TaskRecord, toTask } from '../core/task.ts'
import type { Refusal } from '../core/unit.ts'
import type { Store } from '../stores/store.ts'
import { committedRecord } from './committed-record.ts'
import { digest } from './digest.ts'
import { type Done, intent } from './entry.ts'
import type { Writer } from './writer.ts'

/** A key by which a request is known again, and the digest by which it is told from another. */
export interface RequestKey {
  readonly key: string
  readonly digest: string
}

type AcceptedTask = Task & { readonly steered?: string; readonly isReplayed?: true }

/** The key of a request, if its caller gave one. */
export function requestKey(
  key: string | undefined,
  route: 'runs' | 'tasks',
  thread: ThreadKey,
  request: TaskRequest & { readonly onBusy?: OnBusy },
): RequestKey | undefined {
  if (key === undefined) return undefined
  if (typeof key !== 'string' || !/^[!-~]{1,200}$/.test(key)) {
    throw new HoldfastError('invalid_request', 'An idempotency key is 1-200 visible ASCII characters')
  }
  return { key, digest: digest(route, thread, requestText(request)) }
}

/** What a request is told from another by. Asked again it is the same request, though of another trace. */
export function requestText({ traceparent: _traceparent, ...request }: TaskRequest): string {
  return JSON.stringify(request)
}

/**
 * Waits for a request to be accepted. A decision knows nothing of keys, so it refuses a repeated request for what the
 * first one did: its run makes the thread busy, its task has the name. What was accepted under the key then counts.
 */
export async function unlessRepeated<Value>(
  writer: Writer,
  thread: ThreadKey,
  key: RequestKey | undefined,
  accepting: Promise<Done<Value>>,
): Promise<Done<Value>> {
  try {
    return await accepting
  } catch (error) {
    if (!key || !isHoldfastError(error) || error.code === 'store_unavailable') throw error
    const unit = { operation: 'accept', thread, askKey: key.key, events: [] } as const
    const asked = await writer.change(intent(thread, 'accept', () => ({ unit, value: undefined })))
    if ('refusal' in asked && asked.refusal.code === 'key_taken') return asked
    throw error
  }
}

/** The task of a request, once it is accepted: its own, or that of the same request before it, as it is now. */
export async function acceptedTask(
  store: Store,
  done: Done<TaskRecord>,
  key: RequestKey | undefined,
): Promise<AcceptedTask> {
  if ('refusal' in done) return repeated(store, done.refusal, key?.digest)
  const { value, unit, verdict } = done
  return toTask(unit && verdict ? committedRecord(unit, verdict, value) : value)
}

async function repeated(store: Store, refusal: Refusal, asked: string | undefined): Promise<AcceptedTask> {
  if (refusal.code !== 'key_taken') throw changed()
  const { task } = refusal
  const { digest: used, steered } = rememberedRequest(refusal.digest)
  if (used !== asked) {
    throw new HoldfastError('idempotency_conflict', 'This idempotency key was used for another request', {
      facts: { task },
    })
  }
  const record = await store.task(task)
  // Its thread was deleted since, and the key is free again.
  if (!record) throw changed()
  const live = isQueued(record) ? await store.livePart(record.key) : undefined
  const now = toTask(record, positionsOf(live?.tasks ?? []).get(task))
  return { ...now, ...(steered !== undefined && { steered }), isReplayed: true }
}

function changed(): HoldfastError {
  return new HoldfastError('store_unavailable', 'The thread was changed; ask again')
}
