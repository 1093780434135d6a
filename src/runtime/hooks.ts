import { afterFailure, type HookPut, hookKey } from '../core/hook.ts'
import type { TaskId } from '../core/id.ts'
import { claimHook, settleHook } from '../core/settle-hook.ts'
import { type Task, type TaskRecord, toTask } from '../core/task.ts'
import type { Store } from '../stores/store.ts'
import type { Ambient } from './ambient.ts'
import type { Clock } from './clock.ts'
import { executing } from './entry.ts'
import type { Logger } from './logger.ts'
import type { Metrics } from './metrics.ts'
import type { Writer } from './writer.ts'

/** What `onEnded` is told beside the task. */
export interface EndedCall {
  /** Fires when the call has taken too long, or the runtime closes: what is not answered by then is called again. */
  readonly signal: AbortSignal
  /** 1 for the first call. */
  readonly attempt: number
  /** The same at every call for this end, and at no other: by it a receiver knows that it was told before. */
  readonly key: string
}

/** Called for every task that has ended, at least once; what it throws or rejects with means that it is called again. */
export type OnEnded = (task: Omit<Task, 'hook'>, call: EndedCall) => unknown

export interface HookParts {
  readonly store: Store
  readonly writer: Writer
  readonly clock: Clock
  readonly log: Logger
  readonly metrics: Metrics
  readonly ambient: Ambient
  readonly onEnded: OnEnded | undefined
}

// Enough to keep up with a receiver that answers within a moment, too few to be a burden to it, or to the runs beside it.
const callsMax = 8
// A receiver that has not answered by then will hardly do so.
const callMsMax = 30_000
// Longer than a call and what is written about it may take.
const claimMs = 45_000

/**
 * Calls `onEnded` for the ends that the store says it is owed for.
 *
 * K1 A call is made from the store and counts only once that it was answered is committed: a crash at any point means
 *    another call, never none.
 * K2 Nothing waits for a call. What one throws, now or never, is written to its task and retried later (`core/hook.ts`).
 * K3 A task has one call at a time. One that ignores its signal is left behind when its time is over, and another may be
 *    made beside it.
 *
 * K4 Where several nodes look, a call is claimed first, by one of them (`core/settle-hook.ts`). A node that dies leaves what is
 *    due again when the time of its claim is over, one that closes gives its claims back.
 */
export class Hooks {
  readonly #parts: HookParts
  readonly #calls = new Map<TaskId, Promise<void>>()
  /** Settled while a look was under way, which may still find them owed. */
  readonly #settled = new Set<TaskId>()
  readonly #closing = new AbortController()
  #isOpen = true
  #isLooking = false
  #isPoked = false

  constructor(parts: HookParts) {
    this.#parts = parts
  }

  get isUsed(): boolean {
    return this.#parts.onEnded !== undefined
  }

  /** Something may be due. */
  poke(): void {
    this.#isPoked = true
    if (this.isUsed && this.#isOpen && !this.#isLooking) void this.#look()
  }

  /** Begins no more calls, lets those under way finish until then, and gives up what is left: it is owed still. */
  async close(until: Promise<void>): Promise<void> {
    this.#isOpen = false
    if (this.#calls.size > 0) await Promise.race([Promise.all(this.#calls.values()), until])
    this.abandon()
  }

  abandon(): void {
    this.#isOpen = false
    this.#closing.abort(new Error('The runtime is closing'))
  }

  async #look(): Promise<void> {
    const { store, log } = this.#parts
    this.#isLooking = true
    try {
      while (this.#isOpen && this.#isPoked && this.#calls.size < callsMax) {
        this.#isPoked = false
        this.#settled.clear()
        // As many as can be under way: of these at least as many as there is room for are not.
        const { tasks } = await store.tasks({ owedBy: store.clock.now(), limit: callsMax })
        for (const record of tasks) this.#begin(record)
      }
    } catch (error) {
      log.warn({ err: error }, 'looking for calls of onEnded that are due failed; tried again within a second')
    } finally {
      this.#isLooking = false
    }
  }

  #begin(record: TaskRecord): void {
    const { id } = record
    if (!this.#isOpen || this.#calls.size >= callsMax || this.#calls.has(id) || this.#settled.has(id)) return
    const call = this.#serve(record).finally(() => {
      this.#calls.delete(id)
      this.#settled.add(id)
      this.poke()
    })
    this.#calls.set(id, call)
  }

  /** Never rejects. */
  async #serve(record: TaskRecord): Promise<void> {
    const { id: task, key: thread } = record
    const { store, writer } = this.#parts
    try {
      if (store.isShared && !(await this.#claim(record))) return
      const put = (await this.#call(record)) ?? (store.isShared ? unclaimed(record, store.clock.now()) : undefined)
      if (put) await writer.change(executing({ task, thread }, 'hook', (live) => settleHook(live, put)))
    } catch (error) {
      this.#parts.log.warn(
        { err: error, task },
        'what became of a call of onEnded could not be stored; it is made again',
      )
    }
  }

  /** K4. */
  async #claim(record: TaskRecord): Promise<boolean> {
    const { store, writer } = this.#parts
    const { id: task, key: thread } = record
    const until = store.clock.now() + claimMs
    const done = await writer.change(executing({ task, thread }, 'hook', (live) => claimHook(live, record, until)))
    return !('refusal' in done)
  }

  /** What became of it; undefined if the runtime closed in the middle. */
  async #call(record: TaskRecord): Promise<HookPut | undefined> {
    const { store, metrics, log } = this.#parts
    const { id: task } = record
    const attempt = (record.hook?.attempts ?? 0) + 1
    try {
      await this.#answer(record, attempt)
      metrics.hookCalled('answered')
      return { task }
    } catch (error) {
      if (this.#closing.signal.aborted) return undefined
      const hook = afterFailure(attempt, error, store.clock.now(), Math.random())
      const isGivenUp = hook.nextAt === undefined
      metrics.hookCalled(isGivenUp ? 'given_up' : 'failed')
      const facts = { err: error, task, attempt, ...(!isGivenUp && { nextAt: hook.nextAt }) }
      if (isGivenUp) log.error(facts, 'onEnded failed for a task, and is given up for it')
      else log.warn(facts, 'onEnded failed for a task; it is called again')
      return { task, hook }
    }
  }

  /** Resolves when the hook has; rejects with what it throws, and when its time is over or the runtime closes. */
  async #answer(record: TaskRecord, attempt: number): Promise<void> {
    const { onEnded, clock, ambient } = this.#parts
    const { hook: _hook, ...task } = toTask(record)
    const late = new AbortController()
    const timer = clock.setTimer(callMsMax, () => {
      late.abort(new Error(`onEnded did not answer within ${callMsMax} ms`))
    })
    const signal = AbortSignal.any([late.signal, this.#closing.signal])
    const call = { signal, attempt, key: hookKey(record.id, record.completedAt) }
    // Not in the name of the task that happened to end: what it spawns is nobody's child, what it leaves behind no task's failure.
    const answered = ambient.run({ lineage: {}, isHook: true }, async () => await onEnded?.(task, call))
    try {
      await Promise.race([answered, fired(signal)])
    } finally {
      timer.cancel()
    }
  }
}

/** The hook as it was before it was claimed, but due now: the claim of what was due before is used up. */
function unclaimed({ id: task, hook = { attempts: 0 } }: TaskRecord, now: number): HookPut {
  return { task, hook: { ...hook, nextAt: Math.max(now, (hook.nextAt ?? 0) + 1) } }
}

/** Rejects with the reason of the signal when it fires. */
function fired(signal: AbortSignal): Promise<never> {
  return new Promise((_resolve, reject) => {
    const tell = () => reject(signal.reason as Error)
    if (signal.aborted) tell()
    else signal.addEventListener('abort', tell, { once: true })
  })
}
