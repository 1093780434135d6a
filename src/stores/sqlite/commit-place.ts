import { monotonicMs } from './clock.ts'
import type { PackedBatch, PackedUnit } from './packed-batch.ts'

/** Where a batch is committed: on the thread that asks for it, or on the writer's own. */
export type Place = 'here' | 'thread'

export interface PlaceRule {
  choose(batch: PackedBatch): Place
  /** A batch was committed there, and the commit as such took so long. */
  took(place: Place, batch: PackedBatch, commitMs: number): void
}

// What a batch here may hold: about what a commit in a millisecond does.
const weightMax = 65_536
// Of a row beside the text in it.
const rowWeight = 512
// A way to the writer's thread and back takes a fifth of a millisecond. A disk on which a commit takes much longer is waited for there.
const commitMsMax = 1
// What one commit counts for in the average. A checkpoint, which is the thread's work, may take this long and says nothing of the disk.
const share = 1 / 8
const countedMsMax = 4
// A commit here that takes longer has held up everybody. The next ones are made on the thread for this many times as long, so that
// a disk which stands still now and then takes a twentieth of the time here at most.
const stallMs = 4
const restFactor = 20
// What executions alone write comes again and again. Committed as it comes it would take the thread from everybody; what is waited
// for elsewhere gathers meanwhile, and the next batch is larger.
const chatterMs = 4
// Of a thousand that one checkpoint moves. Each commit touches some pages for itself and some for each row; this many are a guess.
const logPagesMax = 1_000
const commitPages = 8
const rowPages = 1
const pageBytes = 4_096

/**
 * Decides where batches are committed. The writer's thread takes anything, at the price of two changes of thread; here only
 * what is over in a moment is committed, so that nobody else who is served by this thread notices
 * (docs/decisions/0026-small-commits-wait-for-no-thread.md).
 *
 * P1 Here is only what is small, removes nothing and somebody waits for: intents, starts and ends. Emits and steps alone are
 *    here only if none were for a while.
 * P2 The disk has to be quick, as the last commits show, wherever they were made. One that stands still holds up a commit here
 *    once, and is then waited for on the thread.
 * P3 Commits here leave the log to the writer, which gets a batch whenever the log may be due.
 */
export class SmallAndQuick implements PlaceRule {
  readonly #now: () => number
  #commitMs = commitMsMax
  #restsUntil = Number.NEGATIVE_INFINITY
  #chatterAt = Number.NEGATIVE_INFINITY
  #logPages = 0

  constructor(now: () => number = monotonicMs) {
    this.#now = now
  }

  choose(batch: PackedBatch): Place {
    const now = this.#now()
    const isChatter = batch.units.every((unit) => unit.rev === undefined)
    const isOften = isChatter && now - this.#chatterAt < chatterMs
    if (isChatter) this.#chatterAt = now
    const isQuick = this.#commitMs < commitMsMax && now >= this.#restsUntil
    const mayBeHere = isQuick && !isOften && this.#logPages < logPagesMax && isSmall(batch)
    return mayBeHere ? 'here' : 'thread'
  }

  took(place: Place, batch: PackedBatch, commitMs: number): void {
    if (isSmall(batch)) this.#commitMs += (Math.min(commitMs, countedMsMax) - this.#commitMs) * share
    this.#logPages = place === 'thread' ? 0 : this.#logPages + pagesOf(batch)
    if (place === 'here' && commitMs >= stallMs) this.#restsUntil = this.#now() + commitMs * restFactor
  }
}

function isSmall({ units, bytes }: PackedBatch): boolean {
  if (units.length === 0 || units.some(isRemoving)) return false
  let weight = bytes.length
  for (const unit of units) weight += weightOf(unit)
  return weight <= weightMax
}

function isRemoving({ erase, eraseTasks, trim }: PackedUnit): boolean {
  return erase === true || eraseTasks !== undefined || trim !== undefined
}

/** Of what a unit writes beside its events. */
function weightOf({ tasks = [], messages = [], mail = [], steps = [], take = [], questions = [] }: PackedUnit): number {
  let weight =
    (1 + tasks.length + messages.length + mail.length + steps.length + take.length + questions.length) * rowWeight
  for (const { record } of tasks) weight += (record.input?.length ?? 0) + (record.result?.length ?? 0)
  for (const { parts } of messages) weight += parts.length
  for (const { content, steer } of mail) weight += content.length + (steer?.length ?? 0)
  for (const { value } of steps) weight += value?.length ?? 0
  return weight
}

function pagesOf({ units, bytes }: PackedBatch): number {
  return commitPages + units.length * rowPages + bytes.length / pageBytes
}
