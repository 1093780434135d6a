import type { EventType, StoredEvent } from '../../../src/core/event.ts'
import { taskId } from '../../../src/core/id.ts'
import { Replay } from '../../../src/core/replay.ts'
import { EmitBag } from '../../../src/core/resume.ts'
import { contains, StepKeys, type StepRecord } from '../../../src/core/step.ts'
import { planResume } from './plan-resume.ts'
import type { Node, Program, StepNode } from './step-program.ts'

const task = taskId('bg_1')
const startedSeq = 1

/** Decides what happens next, from a list of numbers that is used over and over. */
export class Choices {
  readonly #numbers: readonly number[]
  #next = 0

  constructor(numbers: readonly number[]) {
    this.#numbers = numbers
  }

  /** A number from 0 to `count` - 1. */
  below(count: number): number {
    const number = this.#numbers[this.#next++ % this.#numbers.length] ?? 0
    return number % count
  }
}

/**
 * What outlives a crash: the log and the recorded steps of one task. Attempts run a program on it one move at a time, branches in
 * any order; emits are committed late, a step's record together with all that was emitted before it.
 */
export class Machine {
  readonly log: StoredEvent[] = []
  readonly steps: StepRecord[] = []
  /** Every path whose body was begun, as often as it was. */
  readonly begun: string[] = []
  readonly #choices: Choices
  #attempt = 0
  #head = startedSeq

  constructor(choices: Choices) {
    this.#choices = choices
  }

  /** Runs a program from its top, for so many moves at most. Says whether it came to its end before the crash. */
  run(program: Program, moves = Number.POSITIVE_INFINITY): boolean {
    this.#attempt += 1
    const attempt = new Attempt(this, this.#choices, this.#resume())
    const code = attempt.execute(program, undefined)
    for (let move = 0; move < moves; move += 1) {
      if (!code.next().done) continue
      attempt.finish()
      return true
    }
    return false
  }

  /** Commits emits, and with them the record of the step that made the last of them. */
  commit(emits: readonly Emit[], step?: Omit<StepRecord, 'task' | 'attempt' | 'seq'>): void {
    for (const emit of emits) this.#append('text.delta', { text: emit.text }, emit.step)
    if (step) this.steps.push({ ...step, task, attempt: this.#attempt, seq: this.#head })
  }

  #resume(): EmitBag {
    if (this.#attempt === 1) return new EmitBag()
    const { keep, dropped, bag } = planResume(startedSeq, this.log, this.steps)
    this.#append('task.resumed', { attempt: this.#attempt, node: 'n', keep, dropped })
    return bag
  }

  #append(type: EventType, data: unknown, step?: string): void {
    // Other tasks of the thread take numbers in between.
    this.#head += 1 + this.#choices.below(2)
    this.log.push({
      seq: this.#head,
      at: 0,
      task,
      type,
      data: JSON.stringify(data),
      ...(step !== undefined && { step }),
    })
  }
}

interface Emit {
  readonly text: string
  readonly step: string | undefined
}

class Attempt {
  readonly #machine: Machine
  readonly #choices: Choices
  readonly #bag: EmitBag
  readonly #replay: Replay
  readonly #keys = new StepKeys()
  readonly #open = new Set<string>()
  readonly #overlapped = new Set<string>()
  #emits: Emit[] = []

  constructor(machine: Machine, choices: Choices, bag: EmitBag) {
    this.#machine = machine
    this.#choices = choices
    this.#bag = bag
    this.#replay = new Replay(machine.steps)
  }

  finish(): void {
    this.#replay.finish()
    this.#flush()
  }

  *execute(program: Program, scope: string | undefined): Generator<undefined> {
    for (const node of program) yield* this.#node(node, scope)
  }

  *#node(node: Node, scope: string | undefined): Generator<undefined> {
    if (node.is === 'say') this.#say(node.text, scope)
    if (node.is === 'step') yield* this.#step(node, scope)
    if (node.is === 'fork') yield* this.#fork(node.branches, scope)
  }

  *#step(node: StepNode, scope: string | undefined): Generator<undefined> {
    const { kind, input, body } = node
    const path = this.#path(scope, node)
    const isAnswered = this.#replay.ask(path, kind, input) !== undefined
    if (!isAnswered) this.#begin(path)
    yield
    if (isAnswered) return
    const hasFailed = node.isFlaky && this.#choices.below(3) === 0
    if (!hasFailed) yield* this.execute(body, path)
    this.#open.delete(path)
    if (hasFailed) this.#replay.fail(path)
    else this.#replay.finish(path)
    const failure = hasFailed && { failure: { name: 'Error', message: 'flaky' } }
    const overlapped = this.#overlapped.has(path)
    this.#flush({ key: path, kind, ...(input !== undefined && { input }), overlapped, ...failure })
  }

  #path(scope: string | undefined, { key, kind, input }: StepNode): string {
    if (input === undefined) return this.#keys.take(scope, key)
    const alike = (base: string) => this.#replay.alike(base, kind, input)
    return this.#keys.take(scope, key, alike, (path) => this.#replay.isFree(path, kind))
  }

  /** Every branch runs to its first wait before any goes on, as with `Promise.all`. */
  *#fork(branches: readonly Program[], scope: string | undefined): Generator<undefined> {
    let live = branches.map((branch) => this.execute(branch, scope)).filter((branch) => !branch.next().done)
    while (live.length > 0) {
      yield
      const chosen = live[this.#choices.below(live.length)]
      if (chosen?.next().done) live = live.filter((branch) => branch !== chosen)
    }
  }

  #begin(path: string): void {
    this.#machine.begun.push(path)
    for (const other of this.#open) {
      if (contains(other, path) || contains(path, other)) continue
      this.#overlapped.add(other).add(path)
    }
    this.#open.add(path)
  }

  #say(text: string, step: string | undefined): void {
    if (step === undefined && this.#bag.take('text.delta', JSON.stringify({ text }))) return
    this.#emits.push({ text, step })
    if (this.#choices.below(3) === 0) this.#flush()
  }

  #flush(step?: Omit<StepRecord, 'task' | 'attempt' | 'seq'>): void {
    this.#machine.commit(this.#emits, step)
    this.#emits = []
  }
}
