import fc from 'fast-check'
import type { EventDraft } from '../../../src/core/event.ts'
import { type HookPut, owing } from '../../../src/core/hook.ts'
import { principal, type TaskId, type ThreadKey, taskId, threadId, threadKey } from '../../../src/core/id.ts'
import type { QuestionRecord } from '../../../src/core/question.ts'
import { isTerminal } from '../../../src/core/status.ts'
import type { TaskRecord } from '../../../src/core/task.ts'
import type { Unit } from '../../../src/core/unit.ts'
import { added, changed, pending, question, unit } from '../../../src/testing/store-suite/builders.ts'
import type { StoreModel } from './store-model.ts'

export const keys: readonly ThreadKey[] = [
  threadKey(principal('alice'), threadId('one')),
  threadKey(principal('alice'), threadId('two')),
  threadKey(principal('bob'), threadId('one')),
]

const kinds = [
  'accept',
  'start',
  'end',
  'emit',
  'step',
  'send',
  'read',
  'ask',
  'settle',
  'take',
  'forget',
  'say',
  'hook',
  'erase',
] as const

/** What to try next. Names are relative, because what is there to be picked depends on what was committed. */
const intention = fc.record({
  kind: fc.constantFrom(...kinds, 'start', 'start', 'end', 'take'),
  key: fc.constantFrom(...keys),
  pick: fc.nat({ max: 60 }),
  count: fc.nat({ max: 3 }),
  isStructural: fc.boolean(),
  slip: fc.constantFrom('none', 'none', 'none', 'none', 'none', 'none', 'rev', 'epoch', 'id', 'name'),
})

export type Intention = typeof intention extends fc.Arbitrary<infer Value> ? Value : never

/** Batches, and how far the clock moves before each. */
export const batches = fc.array(
  fc.record({
    moveMs: fc.integer({ min: -20, max: 50 }),
    units: fc.array(intention, { minLength: 1, maxLength: 8, size: 'max' }),
  }),
  { minLength: 1, maxLength: 12, size: 'max' },
)

/** Makes units of intentions, in the light of what a model holds. Its counters make every id and text its own. */
export class UnitMaker {
  #count = 0
  readonly #asked: QuestionRecord[] = []

  make(wanted: Intention, model: StoreModel): Unit {
    const { key, slip, isStructural } = wanted
    const rev = model.thread(key).rev + (slip === 'rev' ? 1 : 0)
    const { kind } = wanted
    if (kind === 'erase') return this.#erase(wanted, rev)
    return { ...unit({ thread: key, ...(isStructural && { rev }) }), ...this.#content({ ...wanted, kind }, model) }
  }

  /** Now and then with events of its own, which come after. */
  #erase({ key, count }: Intention, rev: number): Unit {
    return unit({ operation: 'erase', thread: key, rev, erase: true, events: this.#events(Math.max(0, count - 2)) })
  }

  #content(
    wanted: Intention & { readonly kind: Exclude<Intention['kind'], 'erase'> },
    model: StoreModel,
  ): Partial<Unit> {
    const { kind, key, pick } = wanted
    const task = likely(model.tasksOf(key), wanted)
    if (!task || kind === 'accept') return this.#accept(wanted, model)
    const events = this.#events(wanted.count, task.id)
    const fence = { task: task.id, epoch: task.epoch + (wanted.slip === 'epoch' ? 1 : 0) }
    switch (kind) {
      case 'start':
        return this.#start(model, wanted)
      case 'end':
        return { fence, ...this.#end(task, pick) }
      case 'emit':
        return { fence, events, ...(pick % 3 === 0 && { report: { progress: pick / 60, usage: { tokens: pick } } }) }
      case 'step':
        return { fence, events, steps: [this.#step(task.id, pick)] }
      case 'send':
        return { events, mail: [{ id: `mail_${this.#count++}`, task: task.id, place: pick, content: `${pick}` }] }
      case 'read':
        return { events, read: [`mail_${pick}`, `mail_${this.#count - 1}`] }
      case 'ask':
        return { fence, events, questions: [this.#ask(task, pick)] }
      case 'settle':
        return { events, ...this.#settle(model, wanted) }
      case 'take':
        return { take: [task.id, taskId(`bg_${pick}`)] }
      case 'forget':
        return { forget: [task.id] }
      case 'say':
        return this.#say(task.id)
      case 'hook':
        return { hooks: [this.#hook(task.id, pick)] }
    }
  }

  #accept({ slip, key, pick }: Intention, model: StoreModel): Partial<Unit> {
    const known = oneOf([...model.tasks.keys()], pick)
    const id = slip === 'id' && known ? known : taskId(`bg_${this.#count++}`)
    const parent = oneOf(model.tasksOf(key), pick)?.id
    const record = pending(id, {
      key,
      type: pick % 4 === 0 ? 'run' : 'agent',
      agent: pick % 5 === 0 ? 'demo' : 'echo',
      place: this.#count,
      ready: pick % 3 !== 0,
      ...(slip === 'name' && { name: 'scout' }),
      ...(pick % 2 === 0 && parent !== undefined && { parent: { task: parent } }),
      ...(pick % 7 === 0 && { wake: 'echo' }),
    })
    const used = { key: `k${pick % 2}`, digest: `${pick}`, task: id }
    return {
      operation: 'accept',
      events: this.#events(1, id),
      tasks: [added(record)],
      ...(pick % 4 === 1 && { key: used }),
    }
  }

  #start(model: StoreModel, { key, pick }: Intention): Partial<Unit> {
    const task = oneOf(
      model.tasksOf(key).filter((record) => record.status === 'pending'),
      pick,
    )
    if (!task) return { events: this.#events(1) }
    const node = `node_${pick % 2}`
    const record: TaskRecord = { ...task, status: 'running', ready: false, node, attempt: 1, epoch: task.epoch + 1 }
    const events = this.#events(2, task.id)
    return { operation: 'start', events, tasks: [changed(record, ['startedAt', 'startedSeq'])] }
  }

  #end(task: TaskRecord, pick: number): Partial<Unit> {
    if (isTerminal(task.status)) return {}
    const status = (['completed', 'failed', 'cancelled'] as const)[pick % 3] ?? 'completed'
    const tasks = [changed({ ...task, status, ready: false }, ['completedAt'])]
    const hooks = pick % 2 === 0 && { hooks: [owing(task.id)] }
    return { operation: 'end', events: this.#events(1, task.id), tasks, ...hooks }
  }

  /** Paid, failed and due again, or given up. */
  #hook(task: TaskId, pick: number): HookPut {
    if (pick % 3 === 0) return { task }
    return { task, hook: { attempts: pick, error: `${pick}`, ...(pick % 3 === 1 && { nextAt: pick }) } }
  }

  #say(task: TaskId): Partial<Unit> {
    const id = `m_${this.#count++}`
    return { events: this.#events(2, task), messages: [{ id, role: 'user', parts: '[]', event: 1 }] }
  }

  #step(task: TaskId, pick: number): NonNullable<Unit['steps']>[number] {
    const key = `s_${this.#count++}`
    return { task, key, kind: 'step', value: `${pick}`, overlapped: false, attempt: 1, seq: 0 }
  }

  #ask({ id: task, key }: TaskRecord, pick: number): NonNullable<Unit['questions']>[number] {
    const expiry = pick % 2 === 0 && { expiresAt: pick }
    const record = question(task, `q_${this.#count++}`, { key, text: `${pick}?`, ...expiry })
    this.#asked.push(record)
    return { record, isNew: true, stamp: 'askedAt' }
  }

  /** What a question comes to that a task of the thread asked: settling one that was never committed is a fault. */
  #settle(model: StoreModel, { key, pick }: Intention): Partial<Unit> {
    const asked = this.#asked.filter(({ id, key: own }) => own === key && model.questions.has(id))
    const record = oneOf(asked, pick)
    if (!record) return {}
    if (pick % 3 === 0) return { questions: [{ record: { ...record, closed: 'timeout' }, isNew: false }] }
    const answered = { ...record, answer: `${pick}`, by: 'alice', answeredAt: 0, taken: pick % 2 === 0 }
    return { questions: [{ record: answered, isNew: false, stamp: 'answeredAt' }] }
  }

  #events(count: number, task?: TaskId): EventDraft[] {
    return Array.from({ length: count }, () => ({
      type: 'text.delta',
      ...(task !== undefined && { task }),
      data: JSON.stringify({ text: `${this.#count++}` }),
    }))
  }
}

/** Mostly a task that the unit can be about, now and then any. */
function likely(tasks: readonly TaskRecord[], { kind, pick }: Intention): TaskRecord | undefined {
  const isFit = (record: TaskRecord): boolean =>
    kind === 'take' || kind === 'forget' || kind === 'hook' ? isTerminal(record.status) : record.status === 'running'
  const fit = pick % 5 === 0 ? undefined : oneOf(tasks.filter(isFit), pick)
  return fit ?? oneOf(tasks, pick)
}

function oneOf<Item>(items: readonly Item[], pick: number): Item | undefined {
  return items[pick % Math.max(1, items.length)]
}
