import { monotonicMs } from './clock.ts'
import { type PackedBatch, type PackedUnit, weightOf } from './packed-batch.ts'
import { checkpointPages, pageBytes } from './write-settings.ts'

/** Who commits a batch: the quick writer, on the thread that asks for it, or the writer on a thread of its own. */
export type Committer = 'quick' | 'writer'

export interface CommitterRule {
  choose(batch: PackedBatch): Committer
  /** The log may be as long as it is to get: whoever writes next moves it into the file. */
  readonly isLogDue: boolean
  /** A batch was committed that changed the file, and the commit as such took so long. */
  committed(by: Committer, batch: PackedBatch, commitMs: number): void
  /** The writer has moved all of the log. */
  logMoved(): void
  /** The quick writer had the thread for so long, whatever came of it. */
  heldUp(ms: number): void
}

// What is written in about a millisecond.
const weightMax = 65_536
// A way to the writer's thread and back takes a fifth of a millisecond. A disk on which a commit takes much longer is waited for there.
const commitMsMax = 1
// What one commit counts for in the average, however long it took: one with a checkpoint in it takes longer and says little of the disk.
const share = 1 / 8
const countedMsMax = 4
// Who has the thread for as long has held up everybody. The next batches are the writer's for so many times as long, so that a disk
// which stands still now and then takes a twentieth of the thread's time at most.
const stallMs = 4
const restFactor = 20
// What executions alone write comes again and again. Committed as it comes it would take the thread from everybody; what the writer
// is waited for with gathers meanwhile, and the next batch is larger. Below 4 ms a flood of events was slower than without a quick writer.
const chatterMs = 4
// Where more have gathered the thread was busy: with a thousand streams to send each batch to, more batches are what it cannot have.
const chatterEventsMax = 8
// Half of a checkpoint, because how many pages a commit touches is a guess: some by itself, some for each unit, by what is in it, and
// for each row elsewhere that it changes. A unit that begins a thread adds to the ends of tables; others change what may be anywhere.
// In a file of some hundred megabytes it is up to 2.3 times as many.
const logPagesMax = checkpointPages / 2
const commitPages = 12
const firstUnitPages = 3
const unitPages = 5
const rowPages = 4
// Pages anywhere take some 30 µs each: about two milliseconds.
const pagesMax = 80

/**
 * Chooses by what a batch costs. The writer takes anything, at the price of two changes of thread; the quick writer gets what is
 * over in a moment, so that nobody else who is served by its thread notices
 * (docs/decisions/0026-small-commits-wait-for-no-thread.md).
 *
 * P1 The quick writer gets only what is small, changes few rows, neither erases nor trims, and is waited for: intents, starts and ends. Emits and
 *    steps alone it gets only if they are few and none were committed for a while.
 * P2 The disk has to be quick, as the last commits show, whoever made them. One that stands still holds up the quick writer
 *    once, and is then the writer's to wait for.
 * P3 The quick writer leaves the log to the writer, which gets a batch whenever the log may be due, and the next ones until nothing
 *    of it is left: somebody who reads may keep it from moving all.
 */
export class CostRule implements CommitterRule {
  readonly #now: () => number
  /** Nothing is known of the disk at first, and that is not quick. */
  #commitMs = commitMsMax
  #restsUntil = Number.NEGATIVE_INFINITY
  #chatterAt = Number.NEGATIVE_INFINITY
  #logPages = 0
  #weighed: { readonly batch: PackedBatch; readonly weight: number } | undefined

  constructor(now: () => number = monotonicMs) {
    this.#now = now
  }

  choose(batch: PackedBatch): Committer {
    const now = this.#now()
    const isQuickDisk = this.#commitMs < commitMsMax && now >= this.#restsUntil
    const isTooOften = isChatter(batch) && now - this.#chatterAt < chatterMs
    return isQuickDisk && !isTooOften && !this.isLogDue && this.#isSmall(batch) ? 'quick' : 'writer'
  }

  get isLogDue(): boolean {
    return this.#logPages >= logPagesMax
  }

  logMoved(): void {
    this.#logPages = 0
  }

  committed(by: Committer, batch: PackedBatch, commitMs: number): void {
    if (this.#isSmall(batch)) this.#commitMs += (Math.min(commitMs, countedMsMax) - this.#commitMs) * share
    if (isChatter(batch)) this.#chatterAt = this.#now()
    if (by === 'quick') this.#logPages += pagesOf(batch) + this.#weigh(batch) / pageBytes
    this.#weighed = undefined
  }

  heldUp(ms: number): void {
    if (ms >= stallMs) this.#restsUntil = this.#now() + ms * restFactor
  }

  #isSmall(batch: PackedBatch): boolean {
    const { units } = batch
    if (units.length === 0 || isGathered(units) || units.some(isRemoving)) return false
    return pagesOf(batch) <= pagesMax && this.#weigh(batch) <= weightMax
  }

  /** It is asked for the same batch before and after. */
  #weigh(batch: PackedBatch): number {
    if (this.#weighed?.batch !== batch) this.#weighed = { batch, weight: weightOf(batch) }
    return this.#weighed.weight
  }
}

/** Without what is in the rows. */
function pagesOf({ units }: PackedBatch): number {
  return units.reduce((sum, unit) => sum + pagesOfUnit(unit), commitPages)
}

function pagesOfUnit({ rev, tasks = [], take = [], read = [], forget = [], hooks = [] }: PackedUnit): number {
  const rowCount = Math.max(0, tasks.length - 1) + take.length + read.length + forget.length + hooks.length
  return (rev === 0 ? firstUnitPages : unitPages) + rowCount * rowPages
}

function isRemoving({ erase, eraseTasks, trim }: PackedUnit): boolean {
  return erase === true || eraseTasks !== undefined || trim !== undefined
}

/** Whether executions alone wrote it. */
function isChatter({ units }: PackedBatch): boolean {
  return units.every((unit) => unit.rev === undefined)
}

/** Whether it is more of that than one or two executions write in a moment. */
function isGathered(units: readonly PackedUnit[]): boolean {
  let count = 0
  for (const { rev, eventCount } of units) {
    if (rev !== undefined) return false
    count += eventCount
  }
  return count > chatterEventsMax
}
