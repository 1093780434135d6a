import { accept, type TaskRequest } from '../../../src/core/accept.ts'
import { answer, ask, expire } from '../../../src/core/ask.ts'
import { type CancelScope, cancel } from '../../../src/core/cancel.ts'
import type { Decision, Surroundings } from '../../../src/core/decision.ts'
import { end } from '../../../src/core/end.ts'
import { isHoldfastError } from '../../../src/core/errors.ts'
import type { EventDraft } from '../../../src/core/event.ts'
import { principal, type TaskId, taskId, threadId, threadKey } from '../../../src/core/id.ts'
import { defaultLimits } from '../../../src/core/limits.ts'
import { emptyPart } from '../../../src/core/live-part.ts'
import { LiveThread } from '../../../src/core/live-thread.ts'
import type { Outcome } from '../../../src/core/outcome.ts'
import { PartsFold } from '../../../src/core/parts.ts'
import { type OnBusy, prompt } from '../../../src/core/prompt.ts'
import type { QuestionRecord } from '../../../src/core/question.ts'
import { start } from '../../../src/core/start.ts'
import { isTerminal } from '../../../src/core/status.ts'
import type { TaskRecord } from '../../../src/core/task.ts'
import type { Unit } from '../../../src/core/unit.ts'

/**
 * A thread driven by decisions alone: each unit is taken as committed at once. Keeps the log and the last record of every
 * task, so that a property can look at all that ever happened.
 */
export class ThreadMachine {
  readonly live = new LiveThread(emptyPart(threadKey(principal('owner'), threadId('t'))))
  readonly log: EventDraft[] = []
  readonly units: Unit[] = []
  readonly records = new Map<TaskId, TaskRecord>()
  readonly questions = new Map<string, QuestionRecord>()
  readonly hasSlots: boolean
  #idCount = 0
  /** The instant of its next decision about a question. */
  now = 0

  constructor(hasSlots: boolean) {
    this.hasSlots = hasSlots
  }

  spawn(parent: TaskId | undefined, options: { detached?: true; name?: string } = {}): TaskId | undefined {
    const request = { ...request_('agent'), ...options, ...(parent !== undefined && { parent: { task: parent } }) }
    return this.#decide(() => accept(this.live, this.#around(), request))?.id
  }

  run(onBusy: OnBusy): TaskId | undefined {
    const options = { onBusy, by: 'owner', messageId: `msg_${this.log.length}` }
    return this.#decide(() => prompt(this.live, this.#around(), request_('run'), options))?.task.id
  }

  start(id: TaskId): void {
    this.#decide(() => start(this.live, this.#around(), id))
  }

  end(id: TaskId, outcome: Outcome): void {
    const epoch = this.live.task(id)?.epoch ?? 0
    if (this.live.task(id)?.status !== 'running') return
    this.#decide(() => end(this.live, this.#around(), id, epoch, { outcome, output: new PartsFold() }))
  }

  /** Asks under a key, as often as wanted: one question, until its end is taken. */
  ask(task: TaskId, stepKey: 'a' | 'b' | 'c'): void {
    const record = this.live.task(task)
    if (record?.status !== 'running') return
    const expiry = { a: {}, b: { timeoutMs: 5 }, c: { timeoutMs: 5, default: '"later"' } }[stepKey]
    const asked = { id: `q_${this.questions.size}`, stepKey, text: stepKey, ...expiry }
    const step = (value: string) => ({ task, key: stepKey, kind: 'ask' as const, value, ...recorded })
    this.#decide(() => ask(this.live, this.#around(), { task, epoch: record.epoch }, asked, this.now, step))
  }

  answer(question: QuestionRecord): void {
    const given = { answer: '"now"', by: 'owner' }
    this.#decide(() => answer(this.live, this.#around(), question, given, this.now))
  }

  expire(question: QuestionRecord): void {
    this.#decide(() => expire(this.live, this.#around(), question, this.now))
  }

  cancel(scope: CancelScope): readonly TaskId[] {
    return this.#decide(() => cancel(this.live, this.#around(), scope, { by: 'owner' })) ?? []
  }

  /** Starts and ends tasks until none is live. */
  drain(): void {
    while (!this.live.isIdle) {
      for (const record of [...this.live.tasks()]) {
        this.start(record.id)
        this.end(record.id, { status: 'completed' })
      }
    }
  }

  #decide<Value>(decide: () => Decision<Value>): Value | undefined {
    try {
      const { unit, value } = decide()
      if (unit) this.#commit(unit)
      return value
    } catch (error) {
      if (isHoldfastError(error)) return undefined
      throw error
    }
  }

  #commit(unit: Unit): void {
    const first = this.log.length + 1
    this.live.apply(unit)
    this.live.stamp(unit, { committed: true, first, at: first, taken: [] })
    this.log.push(...unit.events)
    this.units.push(unit)
    for (const put of unit.questions ?? []) this.questions.set(put.record.id, put.record)
    for (const put of unit.tasks ?? []) this.records.set(put.record.id, put.record)
  }

  #around(): Surroundings {
    return {
      node: 'node_1',
      limits: defaultLimits,
      newTaskId: () => taskId(`bg_${this.#idCount++}`),
      takeSlot: () => this.hasSlots,
      versionOf: () => undefined,
    }
  }
}

const recorded = { overlapped: false, attempt: 1, seq: 0 }

function request_(type: string): TaskRequest {
  return { type, agent: 'worker', description: 'work', asked: 'prompt', input: '"go"', inbox: true }
}

export function liveIds(machine: ThreadMachine): TaskId[] {
  return [...machine.records.values()].filter((record) => !isTerminal(record.status)).map((record) => record.id)
}
