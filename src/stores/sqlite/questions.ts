import { principalOf, type TaskId, type ThreadKey, threadKey } from '../../core/id.ts'
import { isOpen, type QuestionRecord } from '../../core/question.ts'
import type { QuestionPut } from '../../core/unit.ts'
import type { QuestionQuery } from '../store.ts'
import type { Connection } from './connection.ts'

const insertQuestion = `
  INSERT INTO questions (id, thread, principal, task, step_key, open, taken, asked_at, expires_at, answered_at, doc)
  VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`

// A stamp sets its column; otherwise it stays as it was stored.
const updateQuestion = `
  UPDATE questions SET open = ?, taken = ?, answered_at = coalesce(?, answered_at), doc = ? WHERE id = ? AND thread = ?`

const select = `
  SELECT q.id, th.key, q.task, q.step_key, q.taken, q.asked_at, q.expires_at, q.answered_at, q.doc FROM questions q`
const joinThread = 'CROSS JOIN threads th ON th.n = q.thread'
// A question of a task that has ended is closed with it, unless an older program ended the task.
const joinLive = `${joinThread} CROSS JOIN tasks t ON t.id = q.task AND t.live`

const selectOne = `${select} ${joinThread} WHERE q.id = ?`
const selectUntaken = `${select} INDEXED BY questions_untaken ${joinLive} WHERE q.thread = ? AND NOT q.taken ORDER BY q.n`
const selectOfThread = `${select} INDEXED BY questions_untaken ${joinLive}
  WHERE q.thread = (SELECT n FROM threads WHERE key = ?) AND NOT q.taken AND q.open ORDER BY q.n`
const selectOfPrincipal = `${select} INDEXED BY questions_open ${joinLive}
  WHERE q.principal = ? AND q.open ORDER BY q.n`
const selectExpired = `${select} INDEXED BY questions_expiring ${joinLive}
  WHERE q.open AND q.expires_at IS NOT NULL AND q.expires_at <= ? ORDER BY q.expires_at, q.n LIMIT ?`

interface QuestionRow {
  readonly id: string
  readonly key: ThreadKey
  readonly task: TaskId
  readonly step_key: string
  readonly taken: number
  readonly asked_at: number
  readonly expires_at: number | null
  readonly answered_at: number | null
  readonly doc: string
}

type Doc = Pick<QuestionRecord, 'input' | 'text' | 'options' | 'default' | 'answer' | 'by' | 'closed'>

export function writeQuestion(connection: Connection, thread: number, put: QuestionPut, at: number): void {
  const { record, isNew, stamp } = put
  const { id, key, task, stepKey, askedAt, expiresAt, answeredAt, taken, ...doc } = record
  const flags = [Number(isOpen(record)), Number(taken)] as const
  const text = JSON.stringify(doc satisfies Doc)
  const answered = stamp === 'answeredAt' ? at : null
  if (isNew) {
    const asked = stamp === 'askedAt' ? at : askedAt
    const instants = [asked, expiresAt ?? null, answered ?? answeredAt ?? null] as const
    connection.run(insertQuestion, id, thread, principalOf(key), task, stepKey, ...flags, ...instants, text)
    return
  }
  const count = connection.run(updateQuestion, ...flags, answered, text, id, thread)
  if (count !== 1) throw new Error(`The question ${id} cannot be updated: its thread has no such question`)
}

/** What a decision needs: questions that are open, or whose end their task has not taken. */
export function readUntakenQuestions(connection: Connection, thread: number): QuestionRecord[] {
  return connection.all<QuestionRow>(selectUntaken, thread).map(toRecord)
}

export function listQuestions(connection: Connection, query: QuestionQuery): QuestionRecord[] {
  return rowsOf(connection, query).map(toRecord)
}

function rowsOf(connection: Connection, query: QuestionQuery): QuestionRow[] {
  if ('id' in query) return connection.all<QuestionRow>(selectOne, query.id)
  if ('expiredAt' in query) return connection.all<QuestionRow>(selectExpired, query.expiredAt, query.limit)
  const { principal, thread } = query
  if (thread === undefined) return connection.all<QuestionRow>(selectOfPrincipal, principal)
  return connection.all<QuestionRow>(selectOfThread, threadKey(principal, thread))
}

function toRecord(row: QuestionRow): QuestionRecord {
  const { id, key, task } = row
  return {
    ...(JSON.parse(row.doc) as Doc),
    id,
    key,
    task,
    stepKey: row.step_key,
    askedAt: row.asked_at,
    ...(row.expires_at !== null && { expiresAt: row.expires_at }),
    ...(row.answered_at !== null && { answeredAt: row.answered_at }),
    taken: row.taken === 1,
  }
}
