import { invariant } from '../../core/errors.ts'
import { principalOf, type TaskId, type ThreadKey, threadKey } from '../../core/id.ts'
import { isExpired, isOpen, type QuestionRecord } from '../../core/question.ts'
import type { QuestionPut } from '../../core/unit.ts'
import type { QuestionQuery } from '../store.ts'
import { frozenCopy } from './frozen-copy.ts'
import type { Journal } from './journal.ts'
import { SortedIndex } from './sorted-index.ts'

/** Replaced as a whole when the question changes, so that an index never meets a changed row. */
export interface QuestionRow {
  readonly ordinal: number
  readonly record: QuestionRecord
}

type QuestionTable = ReturnType<typeof emptyQuestions>

export function emptyQuestions() {
  return { byId: new Map<string, QuestionRow>(), indexes: questionIndexes() }
}

function questionIndexes() {
  return {
    ofTask: new SortedIndex<QuestionRow>({ key: ({ record }) => record.task, order: byOrdinal }),
    keys: new SortedIndex<QuestionRow>({
      key: ({ record }) => `${record.task}\u0000${record.stepKey}`,
      order: byOrdinal,
      unique: 'One step of a task asked two questions',
    }),
    untaken: new SortedIndex<QuestionRow>({
      key: ({ record }) => (record.taken ? undefined : record.key),
      order: byOrdinal,
    }),
    open: new SortedIndex<QuestionRow>({
      key: ({ record }) => (isOpen(record) ? principalOf(record.key) : undefined),
      order: byOrdinal,
    }),
    expiring: new SortedIndex<QuestionRow>({
      key: ({ record }) => (isOpen(record) && record.expiresAt !== undefined ? 'expiring' : undefined),
      order: byExpiry,
    }),
  }
}

/** Whether a task has not ended: a question of one that has is nobody's to answer. */
type IsLive = (task: TaskId) => boolean

export function putQuestion(
  table: QuestionTable,
  key: ThreadKey,
  put: QuestionPut,
  { at, ordinal }: { readonly at: number; readonly ordinal: number },
  journal: Journal,
): void {
  const { record, isNew, stamp } = put
  const known = table.byId.get(record.id)
  invariant(record.key === key, `question ${record.id} of thread ${record.key} is written in a unit of ${key}`)
  invariant(isNew === (known === undefined), `question ${record.id} is ${isNew ? 'asked twice' : 'not known'}`)
  if (known) removeQuestion(table, known, journal)
  const stamps = known ? stampsOf(known.record) : {}
  const kept = frozenCopy({ ...record, ...stamps, ...(stamp && { [stamp]: at }) })
  const row: QuestionRow = { ordinal: known?.ordinal ?? ordinal, record: kept }
  journal.set(table.byId, record.id, row)
  for (const index of Object.values(table.indexes)) index.add(row, journal)
}

/** A record may have been decided before the commit that stamped it, so what is stored stands. */
function stampsOf({ askedAt, answeredAt }: QuestionRecord): Partial<QuestionRecord> {
  return { askedAt, ...(answeredAt !== undefined && { answeredAt }) }
}

export function eraseQuestions(table: QuestionTable, task: TaskId, journal: Journal): void {
  for (const row of [...table.indexes.ofTask.group(task)]) removeQuestion(table, row, journal)
}

function removeQuestion(table: QuestionTable, row: QuestionRow, journal: Journal): void {
  for (const index of Object.values(table.indexes)) index.remove(row, journal)
  journal.delete(table.byId, row.record.id)
}

export function untakenQuestions(table: QuestionTable, key: ThreadKey, isLive: IsLive): QuestionRecord[] {
  return recordsOf(table.indexes.untaken.group(key)).filter(({ task }) => isLive(task))
}

export function listQuestions(table: QuestionTable, query: QuestionQuery, isLive: IsLive): QuestionRecord[] {
  if ('id' in query) return recordsOf([table.byId.get(query.id)].filter((row) => row !== undefined))
  const { open, untaken, expiring } = table.indexes
  if ('expiredAt' in query) {
    const rows = expiring.group('expiring')
    const end = rows.findIndex(({ record }) => !isExpired(record, query.expiredAt))
    const expired = recordsOf(end === -1 ? rows : rows.slice(0, end))
    return expired.filter(({ task }) => isLive(task)).slice(0, query.limit)
  }
  const { principal, thread } = query
  const rows = thread === undefined ? open.group(principal) : untaken.group(threadKey(principal, thread))
  return recordsOf(rows).filter((record) => isOpen(record) && isLive(record.task))
}

function recordsOf(rows: readonly QuestionRow[]): QuestionRecord[] {
  return rows.map((row) => row.record)
}

function byOrdinal(a: QuestionRow, b: QuestionRow): number {
  return a.ordinal - b.ordinal
}

function byExpiry(a: QuestionRow, b: QuestionRow): number {
  return (a.record.expiresAt ?? 0) - (b.record.expiresAt ?? 0) || byOrdinal(a, b)
}
