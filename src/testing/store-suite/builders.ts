import assert from 'node:assert/strict'
import { isHoldfastError } from '../../core/errors.ts'
import type { EventDraft, EventType, StoredEvent } from '../../core/event.ts'
import { principal, type TaskId, type ThreadKey, taskId, threadId, threadKey } from '../../core/id.ts'
import type { LivePart } from '../../core/live-part.ts'
import type { QuestionRecord } from '../../core/question.ts'
import type { TerminalStatus } from '../../core/status.ts'
import type { StepRecord } from '../../core/step.ts'
import type { TaskRecord } from '../../core/task.ts'
import type { Committed, Mail, QuestionPut, Refusal, Stamp, TaskPut, Unit } from '../../core/unit.ts'
import type { ClaimQuery, Offer } from '../../stores/claim.ts'
import type { Store } from '../../stores/store.ts'

export const alice = principal('alice')
export const bob = principal('bob')
export const home = threadKey(alice, threadId('home'))
export const away = threadKey(alice, threadId('away'))
export const bobsHome = threadKey(bob, threadId('home'))

/** A pending task of the agent `echo` that may start. */
export function pending(id: string, fields: Partial<TaskRecord> = {}): TaskRecord {
  return {
    id: taskId(id),
    key: home,
    type: 'agent',
    agent: 'echo',
    description: 'an errand',
    status: 'pending',
    asked: 'prompt',
    attempt: 0,
    epoch: 0,
    depth: 0,
    inbox: true,
    ready: true,
    place: 0,
    crashes: 0,
    taken: false,
    createdAt: 0,
    firstSeq: 0,
    seq: 0,
    ...fields,
  }
}

/** A task in its first attempt on `node_1`. */
export function running(id: string, fields: Partial<TaskRecord> = {}): TaskRecord {
  return pending(id, { status: 'running', ready: false, attempt: 1, epoch: 1, node: 'node_1', ...fields })
}

export function ended(id: string, fields: Partial<TaskRecord> & { readonly status?: TerminalStatus } = {}): TaskRecord {
  return running(id, { status: 'completed', ...fields })
}

export function added(record: TaskRecord, stamps: readonly Stamp[] = ['createdAt']): TaskPut {
  return { record, isNew: true, stamps }
}

export function changed(record: TaskRecord, stamps: readonly Stamp[] = []): TaskPut {
  return { record, isNew: false, stamps }
}

export function event(type: EventType, task?: string, fields: Partial<EventDraft> = {}): EventDraft {
  return { type, ...(task !== undefined && { task: taskId(task) }), data: '{}', ...fields }
}

/** `count` deltas, told apart by their text. */
export function deltas(count: number, task?: string): EventDraft[] {
  return Array.from({ length: count }, (_, n) => event('text.delta', task, { data: JSON.stringify({ text: `${n}` }) }))
}

export function unit(fields: Partial<Unit> = {}): Unit {
  return { operation: 'emit', thread: home, events: [], ...fields }
}

/** What a task executing under an epoch writes. */
export function fenced(task: string, epoch: number, fields: Partial<Unit> = {}): Unit {
  return unit({ fence: { task: taskId(task), epoch }, events: deltas(1, task), ...fields })
}

export function accepting(record: TaskRecord, fields: Partial<Unit> = {}): Unit {
  const events = [event('task.accepted', record.id)]
  return unit({ operation: 'accept', thread: record.key, events, tasks: [added(record)], ...fields })
}

export function starting(record: TaskRecord, fields: Partial<Unit> = {}): Unit {
  const tasks = [changed(record, ['startedAt', 'startedSeq'])]
  return unit({ operation: 'start', thread: record.key, events: [event('task.started', record.id)], tasks, ...fields })
}

export function ending(record: TaskRecord, fields: Partial<Unit> = {}): Unit {
  const tasks = [changed(record, ['completedAt'])]
  return unit({ operation: 'end', thread: record.key, events: [event('task.completed', record.id)], tasks, ...fields })
}

export function mailTo(task: string, id: string, fields: Partial<Mail> = {}): Mail {
  return { id, task: taskId(task), place: 0, content: '"hello"', ...fields }
}

export function step(task: string, key: string, fields: Partial<StepRecord> = {}): StepRecord {
  return { task: taskId(task), key, kind: 'step', value: '1', overlapped: false, attempt: 1, seq: 0, ...fields }
}

/** An open question, asked by a step of its own. */
export function question(task: string, id: string, fields: Partial<QuestionRecord> = {}): QuestionRecord {
  const asked = { key: home, task: taskId(task), stepKey: `~ask:${id}`, text: 'Really?', askedAt: 0, taken: false }
  return { id, ...asked, ...fields }
}

export function asking(record: QuestionRecord, fields: Partial<Unit> = {}): Unit {
  const questions: QuestionPut[] = [{ record, isNew: true, stamp: 'askedAt' }]
  return unit({
    operation: 'ask',
    thread: record.key,
    events: [event('question.asked', record.task)],
    questions,
    ...fields,
  })
}

export function settling(
  record: QuestionRecord,
  put: Pick<QuestionPut, 'stamp'> = {},
  fields: Partial<Unit> = {},
): Unit {
  const questions: QuestionPut[] = [{ record, isNew: false, ...put }]
  const events = [event('question.answered', record.task)]
  return unit({ operation: 'answer', thread: record.key, events, questions, ...fields })
}

/** Commits the units as one batch, all of which must be committed. */
export async function commit(store: Store, ...units: Unit[]): Promise<Committed[]> {
  const verdicts = await store.commit(units)
  assert.equal(verdicts.length, units.length)
  return verdicts.map((verdict) => {
    assert.ok(verdict.committed, `refused: ${JSON.stringify(verdict)}`)
    return verdict
  })
}

export async function commitOne(store: Store, unit: Unit): Promise<Committed> {
  const [verdict] = await commit(store, unit)
  assert.ok(verdict)
  return verdict
}

/** Commits a unit that must be refused, and says why it was. */
export async function refused(store: Store, unit: Unit): Promise<Refusal> {
  const [verdict] = await store.commit([unit])
  assert.ok(verdict && !verdict.committed, 'the unit was committed')
  return verdict.reason
}

/** `committed`, or the code of the refusal, for each unit of a batch. */
export async function codes(store: Store, units: readonly Unit[]): Promise<string[]> {
  const verdicts = await store.commit(units)
  return verdicts.map((verdict) => (verdict.committed ? 'committed' : verdict.reason.code))
}

/** A batch that only a broken caller sends fails as a whole, with an error that tells the caller to take it apart. */
export async function failsTheBatch(store: Store, ...units: Unit[]): Promise<void> {
  await assert.rejects(store.commit(units), (error) => error instanceof Error && !isHoldfastError(error))
}

export async function taskOf(store: Store, id: string): Promise<TaskRecord> {
  const record = await store.task(taskId(id))
  assert.ok(record, `task ${id} is not there`)
  return record
}

export async function liveOf(store: Store, key: ThreadKey = home): Promise<LivePart> {
  const part = await store.livePart(key)
  assert.ok(part, `thread ${key} was never used`)
  return part
}

/** A whole log, read in pages of `limit`. */
export async function logOf(store: Store, key: ThreadKey = home, limit = 1000): Promise<StoredEvent[]> {
  const events: StoredEvent[] = []
  for (let after = 0; ; ) {
    const page = await store.events(key, { after, limit })
    events.push(...page.events)
    if (page.upTo >= page.head) return events
    assert.ok(page.upTo > after, `the page after ${after} goes nowhere`)
    after = page.upTo
  }
}

export async function headOf(store: Store, key: ThreadKey = home): Promise<number> {
  return (await store.events(key, { after: 0, limit: 1 })).head
}

export function idsOf(tasks: readonly { readonly id: string }[]): string[] {
  return tasks.map((task) => task.id)
}

export function numbersOf(events: readonly { readonly seq: number }[]): number[] {
  return events.map((entry) => entry.seq)
}

/** 1, 2, 3 … as many as asked for. */
export function upTo(count: number): number[] {
  return Array.from({ length: count }, (_, n) => n + 1)
}

export function ids(...texts: string[]): TaskId[] {
  return texts.map(taskId)
}

/** What a node is offered, but for the size of the store, which is another after every write. */
export async function offerOf(store: Store, query: Partial<ClaimQuery> = {}): Promise<Offer> {
  const all = { node: 'node_1', agents: ['echo'], starts: 100, orphans: 100, withCounts: false, ...query }
  const { counts, ...offer } = await store.claim(all)
  if (!counts) return offer
  const { bytes: _bytes, ...others } = counts
  return { ...offer, counts: others }
}

/** What is offered to a node that holds its lease: where there are several, others are not asked about the dead. */
export async function orphansOf(store: Store, query: Partial<ClaimQuery> = {}): Promise<string[]> {
  await store.renew('node_0', 60_000)
  return idsOf((await offerOf(store, { node: 'node_0', ...query })).orphans)
}
