import type { ThreadKey } from '../../core/id.ts'
import type { LivePart } from '../../core/live-part.ts'
import type { Mail } from '../../core/unit.ts'
import { fromColumn } from './column-text.ts'
import type { Connection } from './connection.ts'
import type { MailDoc } from './pack-rest.ts'
import { type QuestionRow, toQuestionRecord, untakenOfThread } from './questions.ts'
import { endColumns, isLive, isUntaken, type TaskRow, taskColumns, toRecord } from './task-row.ts'

/** One statement is of one moment, so each picture is one statement: its lists are columns of JSON. */
export const list = (rows: string): string => `(SELECT coalesce(json_agg(row_to_json(x)), '[]') FROM (${rows}) x)`

export const live = `SELECT ${taskColumns} FROM holdfast.tasks t WHERE t.thread = th.n AND ${isLive} ORDER BY t.place, t.n`

// What is given to live tasks has a bound, but a parent may have any number of children whose ends it has not read, of 8 MiB each:
// more than a value holds, or than is read in the time of a statement. So texts that come after this much are left out, with their
// lengths instead.
const textBytesMax = 1_048_576
const firstOf = (text: string, name: string): string => `
  CASE WHEN sum(octet_length(${text})) OVER w <= ${textBytesMax} THEN ${text} END AS ${name},
  CASE WHEN sum(octet_length(${text})) OVER w > ${textBytesMax} THEN octet_length(${text}) END AS left_out`

const awaitedOrder = 'coalesce(t.completed_at, 0), t.end_seq, t.n'

// The live tasks are asked for their ended children, not the ended ones for their parents, which may be any number.
const awaited = `
  SELECT ${endColumns.replace('t.result', firstOf('t.result', 'result'))} FROM holdfast.tasks t
  WHERE t.n IN (
    SELECT c.n FROM holdfast.tasks t JOIN LATERAL (
      SELECT t.n FROM (SELECT * FROM holdfast.tasks c WHERE c.parent = t.id AND c.thread = th.n) t WHERE ${isUntaken}
    ) c ON true
    WHERE t.thread = th.n AND ${isLive}
    UNION
    SELECT t.n FROM holdfast.tasks t WHERE t.thread = th.n AND ${isUntaken} AND t.wake IS NOT NULL
  )
  WINDOW w AS (ORDER BY ${awaitedOrder})
  ORDER BY ${awaitedOrder}`

const mail = `
  SELECT m.n, m.id, m.task, m.place, ${firstOf('m.content', 'content')}, m.doc
  FROM holdfast.tasks t JOIN holdfast.mail m ON m.task = t.id
  WHERE t.thread = th.n AND ${isLive} AND m.thread = th.n
  WINDOW w AS (ORDER BY m.place, m.n)
  ORDER BY m.place, m.n`

const selectLivePart = `
  SELECT th.n AS thread, th.rev, th.wakes, ${list(live)} AS tasks, ${list(awaited)} AS ended, ${list(mail)} AS mail,
    ${list(untakenOfThread)} AS questions
  FROM holdfast.threads th WHERE th.key = $1`

const selectLeftOut = `
  SELECT 'ended' AS list, t.n, t.result AS text FROM holdfast.tasks t WHERE t.n = ANY ($1) AND t.result IS NOT NULL
  UNION ALL
  SELECT 'mail', m.n, m.content FROM holdfast.mail m WHERE m.thread = $2 AND m.n = ANY ($3)`

type Long = { readonly left_out: number | null }
type EndedRow = TaskRow & Long
type MailRow = Pick<Mail, 'id' | 'task' | 'place'> &
  Long & { readonly n: number; readonly content: string | null; readonly doc: string }

/** A live part, but for the texts that are left out. */
export interface LivePartRow {
  readonly thread: number
  readonly rev: number
  readonly wakes: number
  readonly tasks: readonly TaskRow[]
  readonly ended: readonly EndedRow[]
  readonly mail: readonly MailRow[]
  readonly questions: readonly QuestionRow[]
}

/** A text that is left out. Its name means this one text, also if the database goes back to a copy and gives numbers out again. */
export interface LeftOut {
  readonly list: 'ended' | 'mail'
  readonly n: number
  readonly bytes: number
  readonly name: string
}

export async function readLivePart(
  connection: Connection,
  key: ThreadKey,
  timeoutMs: number,
): Promise<LivePartRow | undefined> {
  const statement = { name: 'live_part', sql: selectLivePart, values: [key], timeoutMs }
  const [row] = await connection.query<LivePartRow>(statement)
  return row
}

export function leftOutOf({ ended, mail }: LivePartRow): LeftOut[] {
  return [
    ...ended.flatMap((row) => leftOut('ended', row, nameOfEnd(row))),
    ...mail.flatMap((row) => leftOut('mail', row, nameOfMail(row))),
  ]
}

/** The texts that are still there, by name. */
export async function readLeftOut(
  connection: Connection,
  thread: number,
  wanted: readonly LeftOut[],
  timeoutMs: number,
): Promise<Map<string, string>> {
  const numbersIn = (which: LeftOut['list']) => wanted.filter(({ list }) => list === which).map(({ n }) => n)
  const values = [numbersIn('ended'), thread, numbersIn('mail')]
  const statement = { name: 'left_out', sql: selectLeftOut, values, timeoutMs }
  const rows = await connection.query<Pick<LeftOut, 'list' | 'n'> & { readonly text: string }>(statement)
  const texts = new Map(rows.map(({ list, n, text }) => [`${list} ${n}`, text]))
  return new Map(
    wanted.flatMap(({ list, n, name }) => {
      const text = texts.get(`${list} ${n}`)
      return text === undefined ? [] : [[name, text]]
    }),
  )
}

/** The whole of it. */
export function toLivePart(key: ThreadKey, row: LivePartRow, texts: ReadonlyMap<string, string>): LivePart {
  const { rev, wakes, tasks, ended, mail, questions } = row
  return {
    key,
    rev,
    wakes,
    tasks: tasks.map(toRecord),
    ended: ended.map((end) => toRecord({ ...end, result: texts.get(nameOfEnd(end)) ?? end.result })),
    mail: mail.map((each) => toMail(each, texts.get(nameOfMail(each)) ?? each.content ?? '')),
    questions: questions.map(toQuestionRecord),
  }
}

function nameOfEnd({ n, id, completed_at, left_out }: EndedRow): string {
  return `end ${n} ${id} ${completed_at} ${left_out}`
}

function nameOfMail({ n, id, task, place, left_out }: MailRow): string {
  return `mail ${n} ${id} ${task} ${place} ${left_out}`
}

function leftOut(list: LeftOut['list'], { n, left_out: bytes }: EndedRow | MailRow, name: string): LeftOut[] {
  return bytes === null ? [] : [{ list, n, bytes, name }]
}

function toMail({ id, task, place, doc }: MailRow, content: string): Mail {
  return { id: fromColumn(id), task: fromColumn(task), place, content, ...(JSON.parse(doc) as MailDoc) }
}
