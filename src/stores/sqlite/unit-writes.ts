import { type Principal, principalOf, type TaskId } from '../../core/id.ts'
import type { StepRecord } from '../../core/step.ts'
import type { IdempotencyKey, Mail, MessagePut, Unit } from '../../core/unit.ts'
import type { Connection } from './connection.ts'

const insertMessage = `
  INSERT INTO messages (thread, seq, id, role, finish, task, at, parts) VALUES (?, ?, ?, ?, ?, ?, ?, ?)`

const insertMail = 'INSERT INTO mail (thread, task, id, place, content, doc) VALUES (?, ?, ?, ?, ?, ?)'
const deleteMail = 'DELETE FROM mail WHERE thread = ? AND id = ?'
const forgetMail = 'DELETE FROM mail WHERE task = ? AND thread = ?'

const insertStep = 'INSERT INTO steps (task, key, value, seq, doc) VALUES (?, ?, ?, ?, ?)'
const forgetSteps = 'DELETE FROM steps WHERE task = ?'

const selectKey = 'SELECT task, digest FROM keys WHERE principal = ? AND key = ?'
const insertKey = 'INSERT INTO keys (principal, key, digest, task, at) VALUES (?, ?, ?, ?, ?)'

// Two go for each that comes, so the table never outgrows what its age allows.
const deleteOldKeys = `
  DELETE FROM keys WHERE (principal, key) IN (SELECT principal, key FROM keys WHERE at < ? ORDER BY at LIMIT 2)`

// Twice what the contract promises, so that a clock put right by a few hours breaks no promise.
const keyKeptMs = 48 * 60 * 60 * 1000

/** The first use of an idempotency key by this principal. */
export function findKey(
  connection: Connection,
  unit: Pick<Unit, 'thread' | 'key' | 'askKey'>,
): { readonly task: TaskId; readonly digest: string } | undefined {
  const key = unit.key?.key ?? unit.askKey
  return key === undefined ? undefined : connection.get(selectKey, principalOf(unit.thread), key)
}

export function writeKey(connection: Connection, owner: Principal, key: IdempotencyKey, now: number): void {
  connection.run(insertKey, owner, key.key, key.digest, key.task, now)
  connection.run(deleteOldKeys, now - keyKeptMs)
}

export function writeMessage(connection: Connection, thread: number, put: MessagePut, seq: number, at: number): void {
  const { id, role, finish, task, parts } = put
  connection.run(insertMessage, thread, seq, id, role, finish ?? null, task ?? null, at, parts)
}

/** What of a message is not searched; absent fields stay absent. */
export type MailDoc = Pick<Mail, 'by' | 'from' | 'steer' | 'ended'>

export function writeMail(connection: Connection, thread: number, mail: Mail): void {
  const { id, task, place, content, ...doc } = mail
  connection.run(insertMail, thread, task, id, place, content, JSON.stringify(doc satisfies MailDoc))
}

export function readMail(connection: Connection, thread: number, id: string): void {
  connection.run(deleteMail, thread, id)
}

/** What of a step is not searched and is no text of the user's. */
export type StepDoc = Omit<StepRecord, 'task' | 'key' | 'value' | 'seq'>

export function writeStep(connection: Connection, step: StepRecord, seq: number): void {
  const { task, key, value, seq: _unknownBefore, ...doc } = step
  connection.run(insertStep, task, key, value ?? null, seq, JSON.stringify(doc satisfies StepDoc))
}

export function forgetTask(connection: Connection, thread: number, task: TaskId): void {
  connection.run(forgetSteps, task)
  connection.run(forgetMail, task, thread)
}
