import { type TaskId, type ThreadKey, threadOf } from '../../core/id.ts'
import type { Finish, Message, Part, Role } from '../../core/message.ts'
import type { MessageQuery, SnapshotLimits, SnapshotRecords } from '../store.ts'
import { fromColumn } from './column-text.ts'
import type { Connection } from './connection.ts'
import { list, live } from './live-part-reads.ts'
import { openOfThread, type QuestionRow, toQuestionRecord } from './questions.ts'
import { isEnded, type TaskRow, taskColumns, toRecord } from './task-row.ts'

const lastEnded = `
  SELECT ${taskColumns} FROM holdfast.tasks t WHERE t.thread = th.n AND ${isEnded}
  ORDER BY coalesce(t.completed_at, 0) DESC, t.end_seq DESC, t.n DESC LIMIT $2`

const messageColumns = 'm.id, m.seq, m.role, m.finish, m.task, m.at, m.parts'

const lastMessages = `
  SELECT ${messageColumns} FROM holdfast.messages m WHERE m.thread = th.n ORDER BY m.seq DESC LIMIT $3`

const selectSnapshot = `
  SELECT th.first, th.head, ${list(live)} AS live, ${list(lastEnded)} AS ended, ${list(lastMessages)} AS messages,
    ${list(openOfThread)} AS questions
  FROM holdfast.threads th WHERE th.key = $1`

const selectMessages = (order: 'ASC' | 'DESC'): string => `
  SELECT ${messageColumns}
  FROM holdfast.threads th JOIN holdfast.messages m ON m.thread = th.n
  WHERE th.key = $1 AND m.seq > $2 AND m.seq <= $3
  ORDER BY m.seq ${order}
  LIMIT $4`

interface SnapshotRow {
  readonly first: number
  readonly head: number
  readonly live: readonly TaskRow[]
  readonly ended: readonly TaskRow[]
  readonly messages: readonly MessageRow[]
  readonly questions: readonly QuestionRow[]
}

export async function readSnapshot(
  connection: Connection,
  key: ThreadKey,
  limits: SnapshotLimits,
): Promise<SnapshotRecords | undefined> {
  const values = [key, limits.endedTasks, limits.messages]
  const [row] = await connection.query<SnapshotRow>({ name: 'snapshot', sql: selectSnapshot, values })
  if (!row) return undefined
  const tasks = [...row.live, ...row.ended].sort((a, b) => a.n - b.n).map(toRecord)
  const messages = row.messages.map((message) => toMessage(key, message)).reverse()
  return { head: row.head, first: row.first, messages, tasks, questions: row.questions.map(toQuestionRecord) }
}

export async function readMessages(connection: Connection, key: ThreadKey, query: MessageQuery): Promise<Message[]> {
  const { after = 0, upTo = Number.MAX_SAFE_INTEGER, limit } = query
  const sql = selectMessages(query.fromEnd ? 'DESC' : 'ASC')
  const rows = await connection.query<MessageRow>({ sql, values: [key, after, upTo, limit] })
  if (query.fromEnd) rows.reverse()
  return rows.map((row) => toMessage(key, row))
}

interface MessageRow {
  readonly id: string
  readonly seq: number
  readonly role: Role
  readonly finish: Finish | null
  readonly task: TaskId | null
  readonly at: number
  readonly parts: string
}

function toMessage(key: ThreadKey, row: MessageRow): Message {
  return {
    id: fromColumn(row.id),
    thread: threadOf(key),
    seq: row.seq,
    role: row.role,
    parts: JSON.parse(row.parts) as Part[],
    ...(row.finish !== null && { finish: row.finish }),
    ...(row.task !== null && { task: fromColumn(row.task) }),
    at: row.at,
  }
}
