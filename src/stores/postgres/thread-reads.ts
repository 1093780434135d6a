import { type TaskId, type ThreadKey, threadOf } from '../../core/id.ts'
import type { LivePart } from '../../core/live-part.ts'
import type { Finish, Message, Part, Role } from '../../core/message.ts'
import type { Mail } from '../../core/unit.ts'
import type { MessageQuery, SnapshotLimits, SnapshotRecords } from '../store.ts'
import { fromColumn } from './column-text.ts'
import type { Connection } from './connection.ts'
import type { MailDoc } from './pack-rest.ts'
import { openOfThread, type QuestionRow, toQuestionRecord, untakenOfThread } from './questions.ts'
import { isEnded, isLive, isUntaken, type TaskRow, taskColumns, toRecord } from './task-row.ts'

// One statement is of one moment, so each picture is one statement: its lists are columns of JSON.
const list = (rows: string): string => `(SELECT coalesce(json_agg(row_to_json(x)), '[]') FROM (${rows}) x)`

const live = `SELECT ${taskColumns} FROM holdfast.tasks t WHERE t.thread = th.n AND ${isLive} ORDER BY t.place, t.n`

// The live tasks are asked for their ended children, not the ended ones for their parents, which may be any number.
const awaited = `
  SELECT ${taskColumns} FROM holdfast.tasks t
  WHERE t.n IN (
    SELECT c.n FROM holdfast.tasks t JOIN LATERAL (
      SELECT t.n FROM (SELECT * FROM holdfast.tasks c WHERE c.parent = t.id AND c.thread = th.n) t WHERE ${isUntaken}
    ) c ON true
    WHERE t.thread = th.n AND ${isLive}
    UNION
    SELECT t.n FROM holdfast.tasks t WHERE t.thread = th.n AND ${isUntaken} AND t.wake IS NOT NULL
  )
  ORDER BY coalesce(t.completed_at, 0), t.end_seq, t.n`

const mail = `
  SELECT m.id, m.task, m.place, m.content, m.doc
  FROM holdfast.tasks t JOIN holdfast.mail m ON m.task = t.id
  WHERE t.thread = th.n AND ${isLive} AND m.thread = th.n
  ORDER BY m.place, m.n`

const selectLivePart = `
  SELECT th.rev, th.wakes, ${list(live)} AS tasks, ${list(awaited)} AS ended, ${list(mail)} AS mail,
    ${list(untakenOfThread)} AS questions
  FROM holdfast.threads th WHERE th.key = $1`

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

interface LivePartRow {
  readonly rev: number
  readonly wakes: number
  readonly tasks: readonly TaskRow[]
  readonly ended: readonly TaskRow[]
  readonly mail: readonly MailRow[]
  readonly questions: readonly QuestionRow[]
}

export async function readLivePart(
  connection: Connection,
  key: ThreadKey,
  timeoutMs: number,
): Promise<LivePart | undefined> {
  const statement = { name: 'live_part', sql: selectLivePart, values: [key], timeoutMs }
  const [row] = await connection.query<LivePartRow>(statement)
  if (!row) return undefined
  return {
    key,
    rev: row.rev,
    wakes: row.wakes,
    tasks: row.tasks.map(toRecord),
    ended: row.ended.map(toRecord),
    mail: row.mail.map(toMail),
    questions: row.questions.map(toQuestionRecord),
  }
}

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

type MailRow = Pick<Mail, 'id' | 'task' | 'place' | 'content'> & { readonly doc: string }

function toMail({ id, task, place, content, doc }: MailRow): Mail {
  return { id: fromColumn(id), task: fromColumn(task), place, content, ...(JSON.parse(doc) as MailDoc) }
}
