import { HoldfastError, notFound } from '../core/errors.ts'
import { principalOf, type TaskId, taskId } from '../core/id.ts'
import type { InboxItem } from '../core/inbox-item.ts'
import { type Readable, receive, takeChild } from '../core/mail.ts'
import { type Result, toResult } from '../core/result.ts'
import { isTerminal } from '../core/status.ts'
import type { TaskRecord } from '../core/task.ts'
import type { Store } from '../stores/store.ts'
import type { ReceiveOptions } from './agent.ts'
import { type Clock, expiry } from './clock.ts'
import { type Change, executing } from './entry.ts'
import { closedError, type Execution } from './execution.ts'
import type { Signals } from './signals.ts'
import { named, type StepTaker } from './step-taker.ts'
import type { OpenStep } from './steps.ts'
import type { Writer } from './writer.ts'

export interface WaitParts {
  readonly execution: Execution
  readonly taker: StepTaker
  readonly writer: Writer
  readonly store: Store
  readonly clock: Clock
  readonly signals: Signals
}

/** What a task can wait for: an instant, the end of another task, something in its inbox. Each is a step. */
export class Waits {
  readonly #parts: WaitParts

  constructor(parts: WaitParts) {
    this.#parts = parts
  }

  /** The instant is fixed and recorded when first asked for; a resumed task waits only the rest. */
  async sleep(ms: number): Promise<void> {
    const { taker, store } = this.#parts
    if (!Number.isFinite(ms)) throw invalid('A sleep is a number of milliseconds')
    const name = { ...named('sleep'), input: String(ms) }
    const until = (await taker.take(name, async () => store.clock.now() + ms)) as number
    await within(this.#parts, until, undefined)
  }

  async end(task: string): Promise<Result> {
    const { taker } = this.#parts
    if (typeof task !== 'string') throw invalid('What to wait for is the id of a task')
    const id = taskId(task)
    return taker.takeRaw(named('wait', id), async (step) => {
      const record = await this.#ended(id)
      const result = toResult(record)
      await this.#recordEnd(step, record, result)
      return result
    })
  }

  async receive({ timeoutMs, only = 'all' }: ReceiveOptions = {}): Promise<InboxItem | undefined> {
    const { taker } = this.#parts
    const isEndless = timeoutMs === undefined || timeoutMs === Number.POSITIVE_INFINITY
    if (!isEndless && !Number.isFinite(timeoutMs)) throw invalid('timeoutMs is a number of milliseconds')
    return taker.takeRaw(named('receive'), async (step) => {
      const until = isEndless ? undefined : await this.#deadline(step, timeoutMs)
      for (;;) {
        const listener = this.#parts.signals.listen(`mail:${this.#parts.execution.task}`)
        try {
          const item = await this.#read(step, only)
          if (item) return item
          // Not by way of `within`: tasks wait here in numbers, and every call in between is memory for each.
          if (until === undefined) await taker.wait(listener.heard)
          else if (!(await within(this.#parts, until, listener.heard))) {
            await taker.record(step, undefined)
            return undefined
          }
        } finally {
          listener.stop()
        }
      }
    })
  }

  async #deadline(step: OpenStep, timeoutMs: number): Promise<number> {
    // Over at once in every attempt, so there is no instant to fix.
    if (timeoutMs <= 0) return 0
    const { taker, store } = this.#parts
    const name = { ...named('until'), within: step.path }
    return (await taker.take(name, async () => store.clock.now() + timeoutMs)) as number
  }

  async #read(step: OpenStep, only: Readable): Promise<InboxItem | undefined> {
    const { execution, taker } = this.#parts
    const { task, epoch } = execution
    return this.#change((live, around) =>
      receive(live, around, { task, epoch }, only, (value) => taker.recordOf(step, value)),
    )
  }

  async #recordEnd(step: OpenStep, ended: TaskRecord, result: Result): Promise<void> {
    const { execution, taker } = this.#parts
    const { task, epoch } = execution
    const text = JSON.stringify(result)
    if (ended.parent?.task !== task || ended.key !== execution.thread) return taker.record(step, text)
    await this.#change((live, around) => takeChild(live, around, { task, epoch }, ended.id, taker.recordOf(step, text)))
  }

  async #change<Value>(decide: Change<Value>['decide']): Promise<Value> {
    const { execution, writer } = this.#parts
    if (execution.isClosed) throw closedError(execution)
    const done = await writer.change(executing(execution, 'step', decide))
    if ('refusal' in done) throw closedError(execution)
    return done.value
  }

  async #ended(id: TaskId): Promise<TaskRecord> {
    const { store, signals, execution, taker } = this.#parts
    for (;;) {
      const listener = signals.listen(`end:${id}`)
      try {
        const record = await taker.read(() => store.task(id))
        if (!record || principalOf(record.key) !== principalOf(execution.thread)) throw notFound(id)
        if (isTerminal(record.status)) return record
        signals.locate(id, record.key)
        const ended = await taker.wait(listener.heard)
        if (ended) return ended
      } finally {
        listener.stop()
      }
    }
  }
}

/** Waits until something is heard, at most until an instant of the store's clock. Says whether it was heard. */
export async function within(
  { execution, clock, store, taker }: WaitParts,
  until: number,
  heard: Promise<unknown> | undefined,
): Promise<boolean> {
  const leftMs = until - store.clock.now()
  if (leftMs <= 0) return false
  const timer = expiry(clock, leftMs)
  const takeBack = execution.setAlarm(until)
  const expired = timer.expired.then(() => false)
  try {
    return await taker.wait(heard ? Promise.race([heard.then(() => true), expired]) : expired)
  } finally {
    takeBack()
    timer.cancel()
  }
}

function invalid(message: string): HoldfastError {
  return new HoldfastError('invalid_request', message)
}
