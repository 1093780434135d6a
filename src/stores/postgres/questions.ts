import { type TaskId, type ThreadKey, threadKey } from '../../core/id.ts'
import type { QuestionRecord } from '../../core/question.ts'
import type { QuestionQuery } from '../store.ts'
import { fromColumn, toColumn } from './column-text.ts'
import type { Connection, Statement } from './connection.ts'
import type { QuestionDoc } from './pack-rest.ts'
import { isLive } from './task-row.ts'

const columns = 'q.id, th.key, q.task, q.step_key, q.taken, q.asked_at, q.expires_at, q.answered_at, q.doc'

// A question of a task that has ended is closed with it, unless an older program ended the task.
const ofLiveTask = `EXISTS (SELECT FROM holdfast.tasks t WHERE t.id = q.task AND ${isLive})`

/** Of the thread `th`: what a decision needs, questions that are open or whose end their task has not taken. */
export const untakenOfThread = `
  SELECT ${columns} FROM holdfast.questions q WHERE q.thread = th.n AND NOT q.taken AND ${ofLiveTask} ORDER BY q.n`

/** Of the thread `th`. */
export const openOfThread = `
  SELECT ${columns} FROM holdfast.questions q
  WHERE q.thread = th.n AND NOT q.taken AND q.open AND ${ofLiveTask} ORDER BY q.n`

const select = `SELECT ${columns} FROM holdfast.questions q JOIN holdfast.threads th ON th.n = q.thread`
const selectOne = `${select} WHERE q.id = $1`
const selectOfThread = `${select} WHERE th.key = $1 AND NOT q.taken AND q.open AND ${ofLiveTask} ORDER BY q.n`
const selectOfPrincipal = `${select} WHERE q.principal = $1 AND q.open AND ${ofLiveTask} ORDER BY q.n`
const selectExpired = `${select}
  WHERE q.open AND q.expires_at IS NOT NULL AND q.expires_at <= $1 AND ${ofLiveTask}
  ORDER BY q.expires_at, q.n LIMIT $2`

export interface QuestionRow {
  readonly id: string
  readonly key: ThreadKey
  readonly task: TaskId
  readonly step_key: string
  readonly taken: boolean
  readonly asked_at: number
  readonly expires_at: number | null
  readonly answered_at: number | null
  readonly doc: string
}

export async function listQuestions(connection: Connection, query: QuestionQuery): Promise<QuestionRecord[]> {
  return (await connection.query<QuestionRow>(statementFor(query))).map(toQuestionRecord)
}

function statementFor(query: QuestionQuery): Statement {
  if ('id' in query) return { sql: selectOne, values: [toColumn(query.id)] }
  if ('expiredAt' in query) return { sql: selectExpired, values: [query.expiredAt, query.limit] }
  const { principal, thread } = query
  if (thread === undefined) return { sql: selectOfPrincipal, values: [principal] }
  return { sql: selectOfThread, values: [threadKey(principal, thread)] }
}

export function toQuestionRecord(row: QuestionRow): QuestionRecord {
  return {
    ...(JSON.parse(row.doc) as QuestionDoc),
    id: fromColumn(row.id),
    key: row.key,
    task: fromColumn(row.task),
    stepKey: fromColumn(row.step_key),
    askedAt: row.asked_at,
    ...(row.expires_at !== null && { expiresAt: row.expires_at }),
    ...(row.answered_at !== null && { answeredAt: row.answered_at }),
    taken: row.taken,
  }
}
