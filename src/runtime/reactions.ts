import { isTerminalEvent } from '../core/event.ts'
import type { TaskId } from '../core/id.ts'
import { isOpen } from '../core/question.ts'
import { isTerminal } from '../core/status.ts'
import type { TaskRecord } from '../core/task.ts'
import type { Committed, Unit } from '../core/unit.ts'
import type { Closures } from './closures.ts'
import { committedRecords, isWhole, startsIn } from './committed-record.ts'
import type { Dispatcher } from './dispatcher.ts'
import type { Executor } from './executor.ts'
import type { Feed } from './feed.ts'
import type { Hooks } from './hooks.ts'
import type { Metrics } from './metrics.ts'
import type { Owners } from './owners.ts'
import type { Recovery } from './recovery.ts'
import type { Signals } from './signals.ts'

export interface ReactionParts {
  readonly feed: Feed
  readonly executor: Executor
  readonly closures: Closures
  readonly recovery: Recovery
  readonly signals: Signals
  readonly metrics: Metrics
  readonly owners: Owners
  readonly hooks: Pick<Hooks, 'poke'>
  /** Who is told of tasks that wait for a slot, and of those that are cancelled and not executed here. */
  dispatcher(): Pick<Dispatcher, 'poke' | 'pokeForStarts'>
}

/**
 * What follows in this process from a commit, in the order of the commits and before anyone is answered: watchers
 * see it, started tasks begin, cancelled ones are told, waiting ones go on.
 */
export class Reactions {
  readonly #parts: ReactionParts

  constructor(parts: ReactionParts) {
    this.#parts = parts
  }

  committed(unit: Unit, verdict: Committed): void {
    const { feed, executor, signals, owners, metrics } = this.#parts
    metrics.committed(unit.events.length)
    if (unit.erase) feed.closeThread(unit.thread)
    if (unit.trim !== undefined) feed.stretches.forget(unit.thread)
    feed.publish(unit.thread, verdict.first, verdict.at, unit.events)
    if (unit.fence) {
      const lastSeq = verdict.first + unit.events.length - 1
      executor.get(unit.fence.task)?.committed(unit.events, lastSeq)
    }
    if (unit.tasks) this.#onTasks(unit, verdict)
    if (unit.questions) this.#onQuestions(unit)
    if (unit.hooks && unit.operation !== 'hook') this.#parts.hooks.poke()
    for (const { task, type, data } of unit.events) {
      if (task === undefined) continue
      if (type === 'custom') owners.tellCustom(task, data)
      if (type === 'inbox.accepted') signals.fire(`mail:${task}`)
      // One that nobody executes is an orphan, which is ended by whoever finds it.
      if (type === 'task.cancelling' && !executor.cancel(task)) this.#onOrphan(task)
    }
  }

  #onOrphan(task: TaskId): void {
    this.#parts.recovery.endRest(task)
    this.#parts.dispatcher().poke()
  }

  #onTasks(unit: Unit, verdict: Committed): void {
    const { executor, recovery } = this.#parts
    const starts = startsIn(unit)
    const own: TaskId[] = []
    let isWorkWaiting = false
    for (const record of committedRecords(unit, verdict)) {
      const resumption = unit.operation === 'resume' ? recovery.takeResumption(record.id) : undefined
      if (starts.has(record.id) || resumption) executor.begin(record, resumption)
      if (record.ready) isWorkWaiting = true
      // A function of this process is no other node's to start.
      if (record.ready && !record.closure) own.push(record.id)
      // A restored task ended elsewhere, long ago: it is news to nobody.
      if (isTerminal(record.status) && unit.operation !== 'restore') this.#onEnded(unit, record)
    }
    if (isWorkWaiting) this.#parts.dispatcher().pokeForStarts(own)
  }

  #onQuestions(unit: Unit): void {
    const { executor, signals } = this.#parts
    for (const { record } of unit.tasks ?? []) executor.retime(record)
    for (const { record } of unit.questions ?? []) if (!isOpen(record)) signals.fire(`questions:${record.task}`)
  }

  #onEnded(unit: Unit, record: TaskRecord): void {
    const { closures, signals, metrics, owners } = this.#parts
    const isEndedHere = unit.events.some((event) => event.task === record.id && isTerminalEvent(event))
    if (!isEndedHere) return
    metrics.taskEnded(record.status)
    closures.drop(record.id)
    signals.fire(`end:${record.id}`, isWhole(record) ? record : undefined)
    if (record.parent?.task !== undefined) signals.fire(`mail:${record.parent.task}`)
    owners.tellEnd(record)
  }
}
