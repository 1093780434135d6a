import type { StoredEvent } from '../../core/event.ts'
import { principalOf, type TaskId, type ThreadKey } from '../../core/id.ts'
import { isTerminal } from '../../core/status.ts'
import type { StepRecord } from '../../core/step.ts'
import { isRun, type TaskRecord } from '../../core/task.ts'
import type { IdempotencyKey, Mail, MessagePut } from '../../core/unit.ts'
import { emptyQuestions } from './question-table.ts'
import { type IndexRule, SortedIndex } from './sorted-index.ts'

export interface ThreadRow {
  readonly key: ThreadKey
  rev: number
  wakes: number
  /** The instant of its newest event. */
  at: number
  /** The lowest number that is kept. */
  first: number
  /** Those that are kept: event n stands at n - `first`. */
  events: StoredEvent[]
}

export function headOf({ first, events }: ThreadRow): number {
  return first - 1 + events.length
}

/** `ordinal` is the order in which rows were first stored, over all threads. It never changes, so pages can be cut by it. */
export interface TaskRow {
  readonly ordinal: number
  record: TaskRecord
}

export interface MessageRow {
  readonly ordinal: number
  readonly key: ThreadKey
  readonly put: MessagePut
  readonly seq: number
  readonly at: number
}

export interface MailRow {
  readonly ordinal: number
  readonly key: ThreadKey
  readonly mail: Mail
}

export interface StepRow {
  readonly ordinal: number
  readonly step: StepRecord
}

export interface KeyRow {
  readonly ordinal: number
  readonly principal: string
  readonly used: IdempotencyKey
}

export type Tables = ReturnType<typeof emptyTables>

export function emptyTables() {
  return {
    counters: { ordinal: 0, nextTask: 0 },
    threads: new Map<ThreadKey, ThreadRow>(),
    threadsOf: new Map<string, ThreadRow[]>(),
    tasks: new Map<TaskId, TaskRow>(),
    accepted: acceptedIndexes(),
    changing: changingIndexes(),
    messages: new SortedIndex<MessageRow>({ key: (row) => row.key, order: bySeq }),
    messageIds: new SortedIndex<MessageRow>({
      key: (row) => pair(row.key, row.put.id),
      order: byOrdinal,
      unique: 'Two messages of a thread have one id',
    }),
    mail: new SortedIndex<MailRow>({ key: (row) => pair(row.key, row.mail.task), order: byOrdinal }),
    mailIds: new SortedIndex<MailRow>({
      key: (row) => pair(row.key, row.mail.id),
      order: byOrdinal,
      unique: 'Two unread messages to tasks of a thread have one id',
    }),
    steps: new SortedIndex<StepRow>({ key: (row) => row.step.task, order: byOrdinal }),
    stepKeys: new SortedIndex<StepRow>({
      key: (row) => pair(row.step.task, row.step.key),
      order: byOrdinal,
      unique: 'A step is recorded twice',
    }),
    questions: emptyQuestions(),
    keys: new Map<string, KeyRow>(),
    keysOfTask: new SortedIndex<KeyRow>({ key: (row) => row.used.task, order: byOrdinal }),
  }
}

/** Tasks by what their acceptance fixed. Never touched by a later put, so a put costs the same in a long history. */
function acceptedIndexes() {
  return {
    byThread: index({ key: ({ record }) => record.key, order: byOrdinal }),
    byPrincipal: index({ key: ({ record }) => principalOf(record.key), order: byOrdinal }),
    spawns: index({
      key: ({ record }) => pairOf(record.parent?.task, record.stepKey),
      order: byOrdinal,
      unique: 'One step of a parent spawned two tasks',
    }),
  }
}

/** Tasks by what they are now. */
function changingIndexes() {
  return {
    live: index({ key: ({ record }) => (isLive(record) ? record.key : undefined), order: byPlace }),
    ended: index({ key: ({ record }) => (isLive(record) ? undefined : record.key), order: byEnd }),
    untaken: index({ key: ({ record }) => (isUntaken(record) ? record.key : undefined), order: byEnd }),
    /** Those whose hook is owed: all together, and by thread. */
    owed: index({ key: ({ record }) => (isOwed(record) ? everybody : undefined), order: byDue }),
    owedOfThread: index({ key: ({ record }) => (isOwed(record) ? record.key : undefined), order: byDue }),
    /** Untaken ends that are to wake their thread, and those that a parent may still read: what `isAwaited` can hold for. */
    wakers: index({
      key: ({ record }) => (isUntaken(record) && record.wake !== undefined ? record.key : undefined),
      order: byEnd,
    }),
    endedChildren: index({
      key: ({ record }) => (isUntaken(record) ? pairOf(record.key, record.parent?.task) : undefined),
      order: byEnd,
    }),
    pending: index({ key: ({ record }) => (record.status === 'pending' ? 'pending' : undefined), order: byOrdinal }),
    /** By agent. */
    ready: index({ key: ({ record }) => (isReady(record) ? (record.agent ?? nobody) : undefined), order: byOrdinal }),
    /** Tasks that need a node's lease, by node. */
    leased: index({
      key: ({ record }) => (needsLease(record) ? (record.node ?? nobody) : undefined),
      order: byOrdinal,
    }),
    names: index({
      key: ({ record }) => (isLive(record) ? pairOf(record.key, record.name) : undefined),
      order: byOrdinal,
      unique: 'Two live tasks of a thread have one name',
    }),
    runningRuns: index({
      key: ({ record }) => (isRun(record) && record.status === 'running' ? record.key : undefined),
      order: byOrdinal,
      unique: 'Two runs of a thread are running',
    }),
  }
}

// The group of tasks without an agent or a node. Nothing that has a name is called by a NUL.
const nobody = '\u0000'
// The one group of an index over all threads.
export const everybody = 'all'

function index(rule: IndexRule<TaskRow>): SortedIndex<TaskRow> {
  return new SortedIndex(rule)
}

/** Two texts as one key. Neither ids nor names hold a NUL. */
export function pair(a: string, b: string): string {
  return `${a}\u0000${b}`
}

function pairOf(a: string | undefined, b: string | undefined): string | undefined {
  return a === undefined || b === undefined ? undefined : pair(a, b)
}

function isLive(record: TaskRecord): boolean {
  return !isTerminal(record.status)
}

/** Whether it has a result that nobody took; a run says what it has to say in the conversation. */
export function isUntaken(record: TaskRecord): boolean {
  return isTerminal(record.status) && !record.taken && !isRun(record)
}

function isOwed(record: TaskRecord): boolean {
  return record.hook?.nextAt !== undefined
}

function isReady(record: TaskRecord): boolean {
  return record.status === 'pending' && record.ready && !record.closure
}

function needsLease(record: TaskRecord): boolean {
  return record.status === 'running' || (record.status === 'pending' && record.closure === true)
}

export function byOrdinal(a: { readonly ordinal: number }, b: { readonly ordinal: number }): number {
  return a.ordinal - b.ordinal
}

function byPlace(a: TaskRow, b: TaskRow): number {
  return a.record.place - b.record.place || byOrdinal(a, b)
}

function byDue(a: TaskRow, b: TaskRow): number {
  return (a.record.hook?.nextAt ?? 0) - (b.record.hook?.nextAt ?? 0) || byOrdinal(a, b)
}

function bySeq(a: MessageRow, b: MessageRow): number {
  return a.seq - b.seq || byOrdinal(a, b)
}

/** Where a task stands among those that ended: by instant over threads, by number within one. */
export type EndPosition = readonly [completedAt: number, seq: number, ordinal: number]

export function endPosition({ record, ordinal }: TaskRow): EndPosition {
  return [record.completedAt ?? 0, record.seq, ordinal]
}

export function compareEnds(a: EndPosition, b: EndPosition): number {
  return a[0] - b[0] || a[1] - b[1] || a[2] - b[2]
}

/** What a task was given and what it returned, together. */
export function bodiesLength({ record }: TaskRow): number {
  return (record.input?.length ?? 0) + (record.result?.length ?? 0)
}

export function byEnd(a: TaskRow, b: TaskRow): number {
  return compareEnds(endPosition(a), endPosition(b))
}
