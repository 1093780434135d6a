import type { TaskId, ThreadKey } from '../../../src/core/id.ts'
import { principalOf } from '../../../src/core/id.ts'
import { isTerminal } from '../../../src/core/status.ts'
import { isRun, type TaskRecord } from '../../../src/core/task.ts'
import type { Refusal, Removed, Unit, Verdict } from '../../../src/core/unit.ts'

interface ModelThread {
  rev: number
  at: number
  /** How many numbers were taken before those of `log`. */
  erasedCount: number
  log: string[]
}

/**
 * What a store promises, said as simply as can be: no index, no transaction, every check a search. It knows
 * numbers, revisions, statuses, names and keys; the rest is compared between stores.
 */
export class StoreModel {
  readonly threads = new Map<ThreadKey, ModelThread>()
  readonly tasks = new Map<TaskId, TaskRecord>()
  /** The threads of those that were asked. */
  readonly questions = new Map<string, ThreadKey>()
  readonly #keys = new Map<string, { readonly task: TaskId; readonly digest: string }>()

  copy(): StoreModel {
    const copy = new StoreModel()
    for (const [key, thread] of this.threads) copy.threads.set(key, { ...thread, log: [...thread.log] })
    for (const [id, record] of this.tasks) copy.tasks.set(id, record)
    for (const [id, key] of this.questions) copy.questions.set(id, key)
    for (const [key, used] of this.#keys) copy.#keys.set(key, used)
    return copy
  }

  thread(key: ThreadKey): ModelThread {
    return this.threads.get(key) ?? { rev: 0, at: 0, erasedCount: 0, log: [] }
  }

  tasksOf(key: ThreadKey): TaskRecord[] {
    return [...this.tasks.values()].filter((record) => record.key === key)
  }

  /** What each unit is answered, or undefined if the batch is at fault. Then the model is of no more use. */
  commit(units: readonly Unit[], now: number): Verdict[] | undefined {
    const refused = new Set<string>()
    const stale = new Set<ThreadKey>()
    const verdicts: Verdict[] = []
    for (const unit of units) {
      const fence = JSON.stringify(unit.fence)
      const reason =
        unit.fence && refused.has(fence) ? ({ code: 'after_refused' } as const) : this.#refusal(unit, stale)
      if (reason) {
        if (unit.fence) refused.add(fence)
        if (reason.code === 'stale') stale.add(unit.thread)
        verdicts.push({ committed: false, reason })
        continue
      }
      verdicts.push(this.#write(unit, now))
      if (this.#isBroken(unit)) return undefined
    }
    return verdicts
  }

  #refusal(unit: Unit, stale: ReadonlySet<ThreadKey>): Refusal | undefined {
    if (unit.rev !== undefined && stale.has(unit.thread)) return { code: 'stale' }
    if (unit.rev !== undefined && unit.rev !== this.thread(unit.thread).rev) return { code: 'stale' }
    const task = unit.fence && this.tasks.get(unit.fence.task)
    const isHeld = task?.key === unit.thread && task.status === 'running' && task.epoch === unit.fence?.epoch
    if (unit.fence && !isHeld) return { code: 'fenced' }
    const used = unit.key && this.#keys.get(`${principalOf(unit.thread)}/${unit.key.key}`)
    return used && { code: 'key_taken', ...used }
  }

  #write(unit: Unit, now: number): Verdict {
    const thread = this.threads.get(unit.thread) ?? { rev: 0, at: now, erasedCount: 0, log: [] }
    this.threads.set(unit.thread, thread)
    const removed = unit.erase && this.#erase(unit.thread, thread)
    const at = Math.max(thread.at, now)
    const first = thread.erasedCount + thread.log.length + 1
    thread.log.push(...unit.events.map((event) => event.data))
    if (unit.events.length > 0) thread.at = at
    if (unit.rev !== undefined) thread.rev++
    for (const { record, isNew } of unit.tasks ?? []) {
      const id = isNew && this.tasks.has(record.id) ? twice : record.id
      this.tasks.set(id, record)
    }
    for (const { record } of unit.questions ?? []) this.questions.set(record.id, record.key)
    const taken = (unit.take ?? []).filter((id) => this.#take(id, unit.thread))
    if (unit.key) {
      const { key, task, digest } = unit.key
      this.#keys.set(`${principalOf(unit.thread)}/${key}`, { task, digest })
    }
    return { committed: true, first, at, taken, ...(removed && { removed }) }
  }

  #erase(key: ThreadKey, thread: ModelThread): Removed {
    const removed = { events: thread.log.length, tasks: this.tasksOf(key).length }
    for (const [used, { task }] of this.#keys) if (this.tasks.get(task)?.key === key) this.#keys.delete(used)
    for (const { id } of this.tasksOf(key)) this.tasks.delete(id)
    for (const [id, own] of this.questions) if (own === key) this.questions.delete(id)
    thread.erasedCount += thread.log.length
    thread.log = []
    return removed
  }

  #take(id: TaskId, key: ThreadKey): boolean {
    const record = this.tasks.get(id)
    if (record?.key !== key || !isTerminal(record.status) || record.taken || isRun(record)) return false
    this.tasks.set(id, { ...record, taken: true })
    return true
  }

  #isBroken(unit: Unit): boolean {
    const live = this.tasksOf(unit.thread).filter((record) => !isTerminal(record.status))
    const names = live.flatMap((record) => record.name ?? [])
    const running = live.filter((record) => record.type === 'run' && record.status === 'running')
    return this.tasks.has(twice) || new Set(names).size < names.length || running.length > 1
  }
}

/** Stands for a task that was accepted although its id was there. */
const twice = 'twice' as TaskId
