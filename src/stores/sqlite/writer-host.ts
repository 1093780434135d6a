import { HoldfastError, invariant, isHoldfastError } from '../../core/errors.ts'
import type { Unit, Verdict } from '../../core/unit.ts'
import type { Moment } from './batch.ts'
import type { Applied } from './batch-writes.ts'
import { stopwatchMs } from './clock.ts'
import type { Committer, CommitterRule } from './committer-rule.ts'
import { fromFailure } from './failure.ts'
import { LineBytes } from './line-bytes.ts'
import { type PackedBatch, type PackedUnit, packBatch } from './packed-batch.ts'
import { QuickWriter } from './quick-writer.ts'
import type { WriterOptions } from './writer.ts'
import type { WriterAnswer, WriterRequest } from './writer-thread.ts'
import { WriterThread } from './writer-threads.ts'

interface Waiting {
  readonly resolve: (answer: WriterAnswer) => void
  readonly reject: (error: Error) => void
}

/**
 * Hosts the writer on a thread of its own, so that no long commit stalls anybody, and on the caller's thread a quick writer for
 * what is over before the way there and back would be; why, and what each costs, is in
 * docs/decisions/0002-sqlite-writer-thread.md and 0026-small-commits-wait-for-no-thread.md.
 *
 * H1 Requests reach the writer in the order of the calls and are answered in that order.
 * H2 The thread keeps the process alive exactly while an answer is awaited.
 * H3 The lines of a batch are in memory that the thread reads as well, and nothing else is written there before it has answered.
 * H4 If the thread dies, nobody knows whether its last commit was made: what waits, and all that comes, is `store_failed`. So is
 *    all that comes after a failed fsync or a file that is found damaged, whichever of the two writers it was.
 * H5 One of the two writes at a time, and what one may have written the other reads anew.
 */
export class WriterHost {
  readonly #path: string
  readonly #thread: WriterThread
  readonly #waiting: Waiting[] = []
  /** For the next batch, unless one that is not answered has it. */
  #lines: LineBytes | undefined
  /** The thread died: nothing can be asked of it, not even to close. */
  #end: Error | undefined
  /** The file is in a state that nobody knows: nothing is written any more, but the thread can close it. */
  #failure: Error | undefined
  readonly #rule: CommitterRule
  #quick: QuickWriter | undefined
  /** Who may have written last. */
  #last: Committer = 'writer'
  /** Traces of what was erased are left, which only the writer removes. */
  #hasTraces = false

  /** Takes a thread and opens the file; the answer is the host and the lowest task number never used. */
  static async open(options: WriterOptions, rule: CommitterRule): Promise<{ host: WriterHost; nextTask: number }> {
    const host = new WriterHost(options.path, rule)
    const nextTask = await host.#openWriter(options)
    try {
      host.#quick = new QuickWriter(options.path, options.pageCountMax)
    } catch (error) {
      await host.close(0)
      throw error
    }
    return { host, nextTask }
  }

  private constructor(path: string, rule: CommitterRule) {
    this.#path = path
    this.#rule = rule
    this.#thread = WriterThread.take({
      answered: (answer) => this.#settle(answer),
      died: (cause) => this.#die(cause),
    })
  }

  async apply(units: readonly Unit[], moment: Moment): Promise<Verdict[]> {
    const failure = this.#failure ?? this.#end
    if (failure) throw failure
    const lines = this.#lines ?? new LineBytes()
    this.#lines = undefined
    try {
      const batch = packBatch(units, lines)
      return this.#applyQuickly(batch, moment) ?? (await this.#applyOnThread(batch, moment))
    } catch (error) {
      if (isHoldfastError(error, 'store_failed')) this.#failure = error
      throw error
    } finally {
      lines.clear()
      this.#lines = lines
    }
  }

  /** The verdicts, or undefined if the batch is the writer's. */
  #applyQuickly(batch: PackedBatch, moment: Moment): Verdict[] | undefined {
    const quick = this.#quick
    const isWriterBound = this.#waiting.length > 0 || this.#hasTraces
    if (!quick || isWriterBound || this.#rule.choose(batch) === 'writer') return undefined
    if (this.#last === 'writer') quick.forget()
    this.#last = 'quick'
    const tookMs = stopwatchMs()
    try {
      const applied = quick.apply(batch, moment)
      return applied && this.#note('quick', batch, applied)
    } finally {
      this.#rule.heldUp(tookMs())
    }
  }

  async #applyOnThread(batch: PackedBatch, moment: Moment): Promise<Verdict[]> {
    const hasOtherWritten = this.#last === 'quick'
    const asked = this.#ask({ type: 'apply', batch, moment, hasOtherWritten, movesLog: this.#rule.isLogDue })
    // Not before: what does not get across leaves the writer as it was.
    this.#last = 'writer'
    const answer = await asked
    invariant(answer.type === 'applied', 'a batch is answered by its verdicts')
    this.#hasTraces = answer.hasTraces
    if (answer.hasMovedLog) this.#rule.logMoved()
    return this.#note('writer', batch, answer)
  }

  /** What is refused writes nothing, nor does a trim that finds nothing: it says nothing of the disk, and leaves the log as it is. */
  #note(by: Committer, batch: PackedBatch, { verdicts, commitMs }: Applied): Verdict[] {
    const committed = batch.units.filter((_, n) => verdicts[n]?.committed)
    const hasWritten = by === 'quick' ? committed.length > 0 : committed.some(isSureToWrite)
    if (hasWritten) this.#rule.committed(by, batch, commitMs)
    return verdicts
  }

  async close(nextTask: number): Promise<void> {
    try {
      this.#quick?.close()
      // After a failure not even the numbers are written.
      await this.#ask({ type: 'close', nextTask: this.#failure ? 0 : nextTask })
    } catch (error) {
      this.#thread.end()
      throw error
    }
    this.#thread.giveBack()
  }

  async #openWriter(options: WriterOptions): Promise<number> {
    try {
      const answer = await this.#ask({ type: 'open', options })
      invariant(answer.type === 'opened', 'a writer opens first')
      this.#hasTraces = answer.hasTraces
      return answer.nextTask
    } catch (error) {
      this.#thread.end()
      throw error
    }
  }

  /** Throws if the request does not get across. */
  #ask(request: WriterRequest): Promise<WriterAnswer> {
    if (this.#end) return Promise.reject(this.#end)
    this.#thread.post(request)
    return new Promise((resolve, reject) => {
      if (this.#waiting.push({ resolve, reject }) === 1) this.#thread.keepAlive(true)
    })
  }

  #settle(answer: WriterAnswer): void {
    const waiting = this.#waiting.shift()
    if (this.#waiting.length === 0) this.#thread.keepAlive(false)
    if (answer.type === 'failed') waiting?.reject(fromFailure(answer.failure))
    else waiting?.resolve(answer)
  }

  #die(cause: Error | undefined): void {
    const message = `The writer of ${this.#path} died, perhaps amid a commit. Stop, and start again`
    this.#end ??= new HoldfastError('store_failed', message, { cause })
    for (const waiting of this.#waiting.splice(0)) waiting.reject(this.#end)
  }
}

function isSureToWrite({ rev, eventCount }: PackedUnit): boolean {
  return rev !== undefined || eventCount > 0
}
