import { SeededRandom } from '../../../src/chaos/seeded-random.ts'
import type { EventType } from '../../../src/core/event.ts'
import { principal, type ThreadKey, taskId, threadId, threadKey } from '../../../src/core/id.ts'
import type { TaskRecord } from '../../../src/core/task.ts'
import type { Unit } from '../../../src/core/unit.ts'
import {
  accepting,
  asking,
  changed,
  ended,
  ending,
  event,
  fenced,
  mailTo,
  question,
  running,
  starting,
  step,
  unit,
} from '../../../src/testing/store-suite/builders.ts'

/**
 * Random work in several threads, interleaved, so that rows of all of them share pages, grow, shrink, move and go. Every text
 * that a caller or an agent could have given holds the mark of its thread.
 */
export class MarkedWork {
  readonly threads: readonly ThreadKey[]
  readonly #random: SeededRandom
  readonly #revs = new Map<ThreadKey, number>()
  readonly #tasks = new Map<ThreadKey, TaskRecord[]>()
  #count = 0

  constructor(threadCount: number, seed: number) {
    this.threads = Array.from({ length: threadCount }, (_, n) => threadKey(principal('alice'), threadId(`thread-${n}`)))
    this.#random = new SeededRandom(seed)
  }

  mark(thread: ThreadKey): string {
    return `mark${this.threads.indexOf(thread)}.`
  }

  units(count: number, threads = this.threads): Unit[] {
    return Array.from({ length: count }, () => this.#unit(this.#oneOf(threads)))
  }

  erasing(thread: ThreadKey): Unit {
    const rev = this.#revs.get(thread) ?? 0
    this.#revs.set(thread, rev + 1)
    this.#tasks.delete(thread)
    return unit({ operation: 'erase', thread, rev, erase: true })
  }

  #unit(thread: ThreadKey): Unit {
    const live = (this.#tasks.get(thread) ?? []).filter((task) => task.status === 'running')
    const task = live.length === 0 ? undefined : this.#oneOf(live)
    const kind = this.#pick(14)
    if (!task || kind < 2) return this.#accept(thread)
    if (kind < 5) return this.#emit(thread, task)
    if (kind < 7) return this.#change(thread, task)
    if (kind < 9) return this.#record(thread, task)
    if (kind < 10) return this.#say(thread, task)
    if (kind < 11) return unit({ thread, mail: [this.#mail(thread, task)] })
    if (kind < 13) return this.#ask(thread, task)
    return this.#end(thread, task)
  }

  #accept(thread: ThreadKey): Unit {
    const text = (length: number) => this.#text(thread, length)
    const record = running(`bg_${this.#count++}`, {
      key: thread,
      name: `${this.mark(thread)}${this.#count}`,
      description: text(200),
      metadata: JSON.stringify({ text: text(300) }),
      input: JSON.stringify(text(this.#pick(4) === 0 ? 30_000 : 600)),
      parent: { agent: text(20), call: text(20) },
    })
    this.#tasks.set(thread, [...(this.#tasks.get(thread) ?? []), record])
    const key = { key: `${this.mark(thread)}key${this.#count}`, digest: 'd', task: record.id }
    return accepting(record, { key })
  }

  #emit(thread: ThreadKey, task: TaskRecord): Unit {
    const types: EventType[] = ['text.delta', 'tool.call', 'custom']
    const length = this.#pick(8) === 0 ? 20_000 : 400
    const events = types.map((type) =>
      event(type, task.id, { step: this.mark(thread), data: JSON.stringify({ text: this.#text(thread, length) }) }),
    )
    return fenced(task.id, 1, { thread, events: events.slice(this.#pick(3)) })
  }

  /** The row of the task grows or shrinks. */
  #change(thread: ThreadKey, task: TaskRecord): Unit {
    const metadata = JSON.stringify({ text: this.#text(thread, 1_500) })
    const record = this.#replace({
      ...task,
      metadata,
      name: `${this.mark(thread)}${this.#text(thread, 40)}${this.#count++}`,
    })
    const usage = { [this.mark(thread)]: this.#pick(1_000_000) }
    return starting(record, { report: { usage }, fence: { task: task.id, epoch: 1 } })
  }

  #record(thread: ThreadKey, task: TaskRecord): Unit {
    const value = JSON.stringify(this.#text(thread, this.#pick(5) === 0 ? 15_000 : 700))
    return fenced(task.id, 1, { thread, steps: [step(task.id, `${this.mark(thread)}${this.#count++}`, { value })] })
  }

  #say(thread: ThreadKey, task: TaskRecord): Unit {
    const parts = JSON.stringify([{ type: 'text', text: this.#text(thread, 900) }])
    const message = { id: `${this.mark(thread)}${this.#count++}`, role: 'user' as const, parts, event: 0 }
    return unit({ thread, events: [event('message.created', task.id)], messages: [message] })
  }

  #mail(thread: ThreadKey, task: TaskRecord): NonNullable<Unit['mail']>[number] {
    const content = JSON.stringify(this.#text(thread, 500))
    return mailTo(task.id, `${this.mark(thread)}${this.#count++}`, { content, from: this.mark(thread), steer: content })
  }

  #ask(thread: ThreadKey, task: TaskRecord): Unit {
    const text = (length: number) => this.#text(thread, length)
    const fields = { key: thread, text: text(700), options: [text(40)], default: JSON.stringify(text(100)) }
    const record = question(task.id, `${this.mark(thread)}${this.#count++}`, fields)
    const answered = { ...record, answer: JSON.stringify(text(400)), by: 'alice', answeredAt: 0 }
    const settled = { record: answered, isNew: false, stamp: 'answeredAt' } as const
    return asking(record, this.#pick(2) === 0 ? {} : { questions: [{ record, isNew: true }, settled] })
  }

  #end(thread: ThreadKey, task: TaskRecord): Unit {
    const result = JSON.stringify(this.#text(thread, this.#pick(4) === 0 ? 40_000 : 900))
    const error = { code: 'agent_error', message: this.#text(thread, 100) } as const
    const record = this.#replace({ ...ended(task.id), ...task, status: 'failed', result, error })
    return ending(record, { tasks: [changed(record)], ...(this.#pick(2) === 0 && { forget: [taskId(task.id)] }) })
  }

  #replace(record: TaskRecord): TaskRecord {
    const others = (this.#tasks.get(record.key) ?? []).filter(({ id }) => id !== record.id)
    this.#tasks.set(record.key, [...others, record])
    return record
  }

  /** Any length up to the one given, with the mark every so often, so that a part of it shows as well. */
  #text(thread: ThreadKey, length: number): string {
    return this.mark(thread).repeat(1 + this.#pick(length) / 8)
  }

  #pick(count: number): number {
    return this.#random.below(count)
  }

  #oneOf<Item>(items: readonly Item[]): Item {
    const item = this.#random.pick(items)
    if (item === undefined) throw new Error('There is nothing to pick from')
    return item
  }
}
