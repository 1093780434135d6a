import { type TaskId, type ThreadKey, threadOf } from '../../core/id.ts'
import type { Finish, Message, Part, Role } from '../../core/message.ts'
import type { MessagePage, MessageQuery, SnapshotLimits, SnapshotRecords } from '../store.ts'
import { fromColumn } from './column-text.ts'
import type { Connection } from './connection.ts'
import { list, live } from './live-part-reads.ts'
import { openOfThread, type QuestionRow, toQuestionRecord } from './questions.ts'
import { columnsWhile, type ShownRow, takeAtMost, toShown } from './shown-rows.ts'
import { isEnded, type TaskRow } from './task-row.ts'

const newestEnd = 'coalesce(t.completed_at, 0) DESC, t.end_seq DESC, t.n DESC'

const lastEnded = `
  SELECT ${columnsWhile(takeAtMost('$4', 't.input', 't.result'))}
  FROM (
    SELECT * FROM holdfast.tasks t WHERE t.thread = th.n AND ${isEnded} ORDER BY ${newestEnd} LIMIT $2
  ) t
  WINDOW w AS (ORDER BY ${newestEnd})
  ORDER BY ${newestEnd}`

/** Those after the ones that fit are without their parts. The first has them. */
const messageColumns = (bytesMax: string): string => `
  m.id, m.seq, m.role, m.finish, m.task, m.at,
  CASE WHEN ${takeAtMost(bytesMax, 'm.parts')} OR row_number() OVER w = 1 THEN m.parts END AS parts`

const lastMessages = `
  SELECT ${messageColumns('$4')}
  FROM (SELECT * FROM holdfast.messages m WHERE m.thread = th.n ORDER BY m.seq DESC LIMIT $3) m
  WINDOW w AS (ORDER BY m.seq DESC)
  ORDER BY m.seq DESC`

const selectSnapshot = `
  SELECT th.first, th.head, ${list(live)} AS live, ${list(lastEnded)} AS ended, ${list(lastMessages)} AS messages,
    ${list(openOfThread)} AS questions
  FROM holdfast.threads th WHERE th.key = $1`

const selectMessages = (order: 'ASC' | 'DESC'): string => `
  SELECT ${messageColumns('$5')}
  FROM (
    SELECT m.* FROM holdfast.threads th JOIN holdfast.messages m ON m.thread = th.n
    WHERE th.key = $1 AND m.seq > $2 AND m.seq <= $3
    ORDER BY m.seq ${order}
    LIMIT $4
  ) m
  WINDOW w AS (ORDER BY m.seq ${order})
  ORDER BY m.seq ${order}`

interface SnapshotRow {
  readonly first: number
  readonly head: number
  readonly live: readonly TaskRow[]
  readonly ended: readonly ShownRow[]
  readonly messages: readonly MessageRow[]
  readonly questions: readonly QuestionRow[]
}

export async function readSnapshot(
  connection: Connection,
  key: ThreadKey,
  limits: SnapshotLimits,
): Promise<SnapshotRecords | undefined> {
  const { endedTasks, messages: messageCount, bytesMax = Number.MAX_SAFE_INTEGER } = limits
  const values = [key, endedTasks, messageCount, bytesMax]
  const [row] = await connection.query<SnapshotRow>({ name: 'snapshot', sql: selectSnapshot, values })
  if (!row) return undefined
  const tasks = [...row.live, ...row.ended].sort((a, b) => a.n - b.n).map(toShown)
  const messages = thatFit(key, row.messages).reverse()
  return { head: row.head, first: row.first, messages, tasks, questions: row.questions.map(toQuestionRecord) }
}

export async function readMessages(connection: Connection, key: ThreadKey, query: MessageQuery): Promise<MessagePage> {
  const { after = 0, upTo = Number.MAX_SAFE_INTEGER, limit, fromEnd, bytesMax = Number.MAX_SAFE_INTEGER } = query
  const sql = selectMessages(fromEnd ? 'DESC' : 'ASC')
  // One more than the page, because a cursor is given only if something follows.
  const rows = await connection.query<MessageRow>({ sql, values: [key, after, upTo, limit + 1, bytesMax] })
  const messages = thatFit(key, rows.slice(0, limit))
  if (fromEnd) return { messages: messages.reverse() }
  const last = messages.at(-1)
  return { messages, ...(last && rows.length > messages.length && { cursor: last.seq }) }
}

function thatFit(key: ThreadKey, rows: readonly MessageRow[]): Message[] {
  const messages: Message[] = []
  for (const row of rows) {
    if (row.parts === null) break
    messages.push(toMessage(key, row, row.parts))
  }
  return messages
}

interface MessageRow {
  readonly id: string
  readonly seq: number
  readonly role: Role
  readonly finish: Finish | null
  readonly task: TaskId | null
  readonly at: number
  readonly parts: string | null
}

function toMessage(key: ThreadKey, row: MessageRow, parts: string): Message {
  return {
    id: fromColumn(row.id),
    thread: threadOf(key),
    seq: row.seq,
    role: row.role,
    parts: JSON.parse(parts) as Part[],
    ...(row.finish !== null && { finish: row.finish }),
    ...(row.task !== null && { task: fromColumn(row.task) }),
    at: row.at,
  }
}
