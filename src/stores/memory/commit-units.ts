import { invariant } from '../../core/errors.ts'
import type { EventDraft, StoredEvent } from '../../core/event.ts'
import { type Principal, principalOf, type ThreadKey } from '../../core/id.ts'
import { taskRanges } from '../../core/stamp.ts'
import type { Fence, IdempotencyKey, Refusal, Unit, Verdict } from '../../core/unit.ts'
import { frozenCopy } from './frozen-copy.ts'
import { Journal } from './journal.ts'
import type { Leases } from './leases.ts'
import { putQuestion } from './question-table.ts'
import { dropMail, forget, remove } from './removals.ts'
import { headOf, type KeyRow, type MailRow, pair, type Tables, type ThreadRow } from './tables.ts'
import { numberTasks, putHooks, putTask, takeTasks, updateLive } from './task-table.ts'

/**
 * Commits a batch in one go of the event loop, so nobody reads between two of its units.
 *
 * C1 A unit is refused before it changes anything.
 * C2 What only a broken caller does (a name twice, two running runs) throws, and takes the whole batch back.
 */
export function commitUnits(tables: Tables, leases: Leases, units: readonly Unit[], now: number): Verdict[] {
  const journal = new Journal()
  const refused: Refused = { fences: new Set(), threads: new Set() }
  try {
    return units.map((unit) => {
      const reason = refusal(tables, leases, unit, refused)
      if (!reason) return apply(tables, unit, now, journal)
      if (unit.fence) refused.fences.add(fenceText(unit.fence))
      if (reason.code === 'stale') refused.threads.add(unit.thread)
      return { committed: false, reason }
    })
  } catch (error) {
    journal.rollback()
    throw error
  }
}

/** What earlier units of the batch were refused for: later ones that build on them are refused as well. */
interface Refused {
  readonly fences: Set<string>
  readonly threads: Set<ThreadKey>
}

function refusal(tables: Tables, leases: Leases, unit: Unit, refused: Refused): Refusal | undefined {
  if (unit.fence && refused.fences.has(fenceText(unit.fence))) return { code: 'after_refused' }
  const rev = tables.threads.get(unit.thread)?.rev ?? 0
  if (unit.rev !== undefined && (unit.rev !== rev || refused.threads.has(unit.thread))) return { code: 'stale' }
  if (unit.fence && !holdsFence(tables, unit.thread, unit.fence)) return { code: 'fenced' }
  if (unit.lapsed !== undefined && leases.isHeld(unit.lapsed)) return { code: 'leased' }
  const key = unit.key?.key ?? unit.askKey
  const used = key === undefined ? undefined : tables.keys.get(pair(principalOf(unit.thread), key))
  if (used) return { code: 'key_taken', task: used.used.task, digest: used.used.digest }
  return unit.askKey === undefined ? undefined : { code: 'key_free' }
}

function fenceText(fence: Fence): string {
  return pair(fence.task, String(fence.epoch))
}

function holdsFence(tables: Tables, key: ThreadKey, fence: Fence): boolean {
  const record = tables.tasks.get(fence.task)?.record
  return record?.key === key && record.status === 'running' && record.epoch === fence.epoch
}

/** The order of effects is that of `LiveThread.apply`, which must come to the same live part. */
function apply(tables: Tables, unit: Unit, now: number, journal: Journal): Verdict {
  const thread = threadRow(tables, unit.thread, now, journal)
  const removed = remove(tables, thread, unit, journal)
  const at = Math.max(now, thread.at)
  const first = headOf(thread) + 1
  const events = appendEvents(thread, unit.events, at, journal)
  const head = headOf(thread)
  const ranges = taskRanges(unit.events, first)
  journal.assign(thread, {
    ...(events.length > 0 && { at }),
    ...(unit.rev !== undefined && { rev: unit.rev + 1 }),
    ...(unit.wakes !== undefined && { wakes: unit.wakes }),
  })
  if (unit.fence && unit.report) updateLive(tables, unit.fence.task, frozenCopy(unit.report), journal)
  for (const put of unit.tasks ?? []) putTask(tables, unit.thread, put, { at, head, ranges }, journal)
  numberTasks(tables, unit.thread, ranges, journal)
  writeMail(tables, unit, journal)
  const taken = takeTasks(tables, unit.thread, unit.take ?? [], journal)
  if (unit.hooks) putHooks(tables, unit.thread, unit.hooks, at, journal)
  writeMessages(tables, unit, events, journal)
  writeQuestions(tables, unit, at, journal)
  writeSteps(tables, unit, head, journal)
  for (const task of unit.forget ?? []) forget(tables, unit.thread, task, journal)
  if (unit.key) writeKey(tables, principalOf(unit.thread), unit.key, journal)
  return { committed: true, first, at, taken, ...(removed && { removed }) }
}

function threadRow(tables: Tables, key: ThreadKey, now: number, journal: Journal): ThreadRow {
  const known = tables.threads.get(key)
  if (known) return known
  const row: ThreadRow = { key, rev: 0, wakes: 0, at: now, first: 1, events: [] }
  journal.set(tables.threads, key, row)
  const owned = tables.threadsOf.get(principalOf(key)) ?? []
  journal.set(tables.threadsOf, principalOf(key), owned)
  journal.append(owned, [row])
  return row
}

function appendEvents(thread: ThreadRow, drafts: readonly EventDraft[], at: number, journal: Journal): StoredEvent[] {
  const head = headOf(thread)
  const events = drafts.map((draft, i) => frozenCopy({ ...draft, seq: head + 1 + i, at }))
  journal.append(thread.events, events)
  return events
}

function writeMail(tables: Tables, unit: Unit, journal: Journal): void {
  for (const mail of unit.mail ?? []) {
    const row: MailRow = { ordinal: tables.counters.ordinal++, key: unit.thread, mail: frozenCopy(mail) }
    tables.mailIds.add(row, journal)
    tables.mail.add(row, journal)
  }
  for (const id of unit.read ?? []) {
    for (const row of [...tables.mailIds.group(pair(unit.thread, id))]) dropMail(tables, row, journal)
  }
}

function writeMessages(tables: Tables, unit: Unit, events: readonly StoredEvent[], journal: Journal): void {
  for (const put of unit.messages ?? []) {
    const event = events[put.event]
    invariant(event !== undefined, `message ${put.id} names event ${put.event} of a unit with ${events.length}`)
    const { seq, at } = event
    const row = { ordinal: tables.counters.ordinal++, key: unit.thread, put: frozenCopy(put), seq, at }
    tables.messageIds.add(row, journal)
    tables.messages.add(row, journal)
  }
}

function writeQuestions(tables: Tables, unit: Unit, at: number, journal: Journal): void {
  for (const put of unit.questions ?? []) {
    putQuestion(tables.questions, unit.thread, put, { at, ordinal: tables.counters.ordinal++ }, journal)
  }
}

function writeSteps(tables: Tables, unit: Unit, head: number, journal: Journal): void {
  for (const step of unit.steps ?? []) {
    const row = { ordinal: tables.counters.ordinal++, step: frozenCopy({ ...step, seq: head }) }
    tables.stepKeys.add(row, journal)
    tables.steps.add(row, journal)
  }
}

function writeKey(tables: Tables, principal: Principal, key: IdempotencyKey, journal: Journal): void {
  const row: KeyRow = { ordinal: tables.counters.ordinal++, principal, used: frozenCopy(key) }
  journal.set(tables.keys, pair(principal, key.key), row)
  tables.keysOfTask.add(row, journal)
}
