import { principalOf, type TaskId, type ThreadKey, threadOf } from '../../core/id.ts'
import type { LivePart } from '../../core/live-part.ts'
import type { Finish, Message, Part, Role } from '../../core/message.ts'
import { countWithin } from '../../core/shown-record.ts'
import type { TaskRecord } from '../../core/task.ts'
import type { Mail } from '../../core/unit.ts'
import type { MessagePage, MessageQuery, SnapshotLimits, SnapshotRecords, ThreadPlace } from '../store.ts'
import type { Connection } from './connection.ts'
import { listQuestions, readUntakenQuestions } from './questions.ts'
import { bytesOf, type SizedRow, selectSized, toShown } from './shown-rows.ts'
import { joinTasks, selectTasks, type TaskRow, toRecord } from './task-row.ts'
import type { MailDoc } from './unit-writes.ts'

const selectThread = 'SELECT n, first, head, rev, wakes FROM threads WHERE key = ?'

const selectLive = `${selectTasks}
  FROM tasks t INDEXED BY tasks_of_thread ${joinTasks}
  WHERE t.thread = ? AND t.status IN ('pending', 'running')
  ORDER BY t.place, t.n`

// The live tasks are asked for their ended children, not the ended ones for their parents, which may be any number.
const selectAwaited = `${selectTasks}
  FROM tasks t ${joinTasks}
  WHERE t.n IN (
    SELECT c.n FROM tasks p INDEXED BY tasks_of_thread CROSS JOIN tasks c INDEXED BY tasks_awaited ON c.parent = p.id
    WHERE p.thread = ?1 AND p.status IN ('pending', 'running') AND c.untaken AND c.thread = ?1
    UNION
    SELECT n FROM tasks INDEXED BY tasks_waking WHERE thread = ?1 AND untaken AND wake IS NOT NULL
  )
  ORDER BY coalesce(t.completed_at, 0), t.seq, t.n`

const selectMail = `
  SELECT m.id, m.task, m.place, m.content, m.doc
  FROM tasks p INDEXED BY tasks_of_thread CROSS JOIN mail m INDEXED BY mail_of_task ON m.task = p.id
  WHERE p.thread = ?1 AND p.status IN ('pending', 'running') AND m.thread = ?1
  ORDER BY m.place, m.n`

const selectEnded = `${selectSized}
  FROM tasks t INDEXED BY tasks_ended ${joinTasks}
  WHERE t.thread = ? AND NOT t.live
  ORDER BY coalesce(t.completed_at, 0) DESC, t.seq DESC, t.n DESC
  LIMIT ?`

const selectMessages = (columns: string, order: 'ASC' | 'DESC'): string => `
  SELECT ${columns}
  FROM threads th CROSS JOIN messages m INDEXED BY messages_by_seq ON m.thread = th.n
  WHERE th.key = ? AND m.seq > ? AND m.seq <= ?
  ORDER BY m.seq ${order}
  LIMIT ?`

const messageColumns = 'm.id, m.seq, m.role, m.finish, m.task, m.at, m.parts'

interface ThreadRow {
  readonly n: number
  readonly first: number
  readonly head: number
  readonly rev: number
  readonly wakes: number
}

/** The number of the newest thread, which is not lower than how many there are. */
export function highestThread(connection: Connection): number {
  return connection.get<{ n: number | null }>('SELECT max(n) AS n FROM threads')?.n ?? 0
}

/** So many threads after this number, in the order of their numbers. */
export function readThreadKeys(
  connection: Connection,
  after: number,
  countMax: number,
): { readonly n: number; readonly key: ThreadKey }[] {
  return connection.all('SELECT n, key FROM threads WHERE n > ? ORDER BY n LIMIT ?', after, countMax)
}

export function readLivePart(connection: Connection, key: ThreadKey): LivePart | undefined {
  const thread = connection.get<ThreadRow>(selectThread, key)
  if (!thread) return undefined
  const tasks = connection.all<TaskRow>(selectLive, thread.n).map(toRecord)
  const ended = connection.all<TaskRow>(selectAwaited, thread.n).map(toRecord)
  const mail = connection.all<MailRow>(selectMail, thread.n).map(toMail)
  const questions = readUntakenQuestions(connection, thread.n)
  return { key, rev: thread.rev, wakes: thread.wakes, tasks, ended, mail, questions }
}

export function readSnapshot(
  connection: Connection,
  key: ThreadKey,
  limits: SnapshotLimits,
): SnapshotRecords | undefined {
  const thread = connection.get<ThreadRow>(selectThread, key)
  if (!thread) return undefined
  const { bytesMax = Number.POSITIVE_INFINITY } = limits
  const live = connection.all<TaskRow>(selectLive, thread.n)
  const ended = connection.all<SizedRow>(selectEnded, thread.n, limits.endedTasks)
  const shown = toShown(connection, ended, ended.slice(0, countWithin(ended.map(bytesOf), bytesMax)))
  const places = new Map([...live, ...ended].map(({ id, n }) => [id, n]))
  const placeOf = ({ id }: TaskRecord) => places.get(id) ?? 0
  const tasks = [...live.map(toRecord), ...shown].sort((a, b) => placeOf(a) - placeOf(b))
  const { messages } = readMessages(connection, key, { limit: limits.messages, fromEnd: true, bytesMax })
  const questions = listQuestions(connection, { principal: principalOf(key), thread: threadOf(key) })
  return { head: thread.head, first: thread.first, messages, tasks, questions }
}

export function readMessages(connection: Connection, key: ThreadKey, query: MessageQuery): MessagePage {
  const { after = 0, upTo = Number.MAX_SAFE_INTEGER, limit, fromEnd, bytesMax = Number.POSITIVE_INFINITY } = query
  const order = fromEnd ? 'DESC' : 'ASC'
  // One more than the page, because a cursor is given only if something follows. SQLite knows lengths without reading the texts.
  const lengths = selectMessages('octet_length(m.parts) AS bytes', order)
  const sizes = connection.all<{ bytes: number }>(lengths, key, after, upTo, limit + 1).map(({ bytes }) => bytes)
  const count = Math.min(limit, Math.max(1, countWithin(sizes, bytesMax)))
  const rows = connection.all<MessageRow>(selectMessages(messageColumns, order), key, after, upTo, count)
  const last = rows.at(-1)
  if (fromEnd) rows.reverse()
  const messages = rows.map((row) => toMessage(key, row))
  return { messages, ...(last && sizes.length > count && !fromEnd && { cursor: last.seq }) }
}

export function readMoved(connection: Connection, places: readonly ThreadPlace[]): ThreadPlace[] {
  return places.flatMap(({ key, head, rev }) => {
    const now = connection.get<ThreadRow>(selectThread, key)
    if ((now?.head ?? 0) === head && (now?.rev ?? 0) === rev) return []
    return [{ key, head: now?.head ?? 0, rev: now?.rev ?? 0 }]
  })
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
    id: row.id,
    thread: threadOf(key),
    seq: row.seq,
    role: row.role,
    parts: JSON.parse(row.parts) as Part[],
    ...(row.finish !== null && { finish: row.finish }),
    ...(row.task !== null && { task: row.task }),
    at: row.at,
  }
}

type MailRow = Pick<Mail, 'id' | 'task' | 'place' | 'content'> & { readonly doc: string }

function toMail({ id, task, place, content, doc }: MailRow): Mail {
  return { id, task, place, content, ...(JSON.parse(doc) as MailDoc) }
}
