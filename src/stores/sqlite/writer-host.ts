import { HoldfastError, invariant, isHoldfastError } from '../../core/errors.ts'
import type { Unit, Verdict } from '../../core/unit.ts'
import type { Moment } from './batch.ts'
import type { Place, PlaceRule } from './commit-place.ts'
import { fromFailure } from './failure.ts'
import { LineBytes } from './line-bytes.ts'
import { type PackedBatch, packBatch } from './packed-batch.ts'
import { QuickWriter } from './quick-writer.ts'
import type { WriterOptions } from './writer.ts'
import type { WriterAnswer, WriterRequest } from './writer-thread.ts'
import { WriterThread } from './writer-threads.ts'

interface Waiting {
  readonly resolve: (answer: WriterAnswer) => void
  readonly reject: (error: Error) => void
}

/**
 * Hosts the writer on a thread of its own, so that an fsync stalls nobody, and beside it a quick one for what is over before the
 * way to that thread would be; why, and what each costs, is in docs/decisions/0002-sqlite-writer-thread.md and 0026.
 *
 * H1 Requests reach the writer in the order of the calls and are answered in that order.
 * H2 The thread keeps the process alive exactly while an answer is awaited.
 * H3 The lines of a batch are in memory that the thread reads as well, and nothing else is written there before it has answered.
 * H4 If the thread dies, nobody knows whether its last commit was made: what waits, and all that comes, is `store_failed`. So is
 *    all that comes after a commit that failed as such, wherever it was made.
 * H5 One of the two writes at a time, and what one has written the other reads anew.
 */
export class WriterHost {
  readonly #path: string
  readonly #thread: WriterThread
  readonly #waiting: Waiting[] = []
  /** For the next batch, unless one that is not answered has it. */
  #lines: LineBytes | undefined
  #end: Error | undefined
  /** Of a commit that left the file in a state that nobody knows. */
  #failure: Error | undefined
  readonly #rule: PlaceRule
  #quick: QuickWriter | undefined
  /** Where the last batch was written. */
  #last: Place = 'thread'
  /** Traces of what was erased are left, which only the thread removes. */
  #hasTraces = false

  /** Takes a thread and opens the file; the answer is the host and the lowest task number never used. */
  static async open(options: WriterOptions, rule: PlaceRule): Promise<{ host: WriterHost; nextTask: number }> {
    const host = new WriterHost(options.path, rule)
    try {
      const answer = await host.#ask({ type: 'open', options })
      invariant(answer.type === 'opened', 'a writer opens first')
      host.#hasTraces = answer.hasTraces
      host.#quick = new QuickWriter(options.path, options.pageCountMax)
      return { host, nextTask: answer.nextTask }
    } catch (error) {
      host.#thread.end()
      throw error
    }
  }

  private constructor(path: string, rule: PlaceRule) {
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
      return this.#applyHere(batch, moment) ?? (await this.#applyThere(batch, moment))
    } catch (error) {
      if (isHoldfastError(error, 'store_failed')) this.#failure = error
      throw error
    } finally {
      lines.clear()
      this.#lines = lines
    }
  }

  /** The verdicts, or undefined if the batch is for the thread. */
  #applyHere(batch: PackedBatch, moment: Moment): Verdict[] | undefined {
    const quick = this.#quick
    const isForThread = this.#waiting.length > 0 || this.#hasTraces || this.#rule.choose(batch) === 'thread'
    if (!quick || isForThread) return undefined
    if (this.#last === 'thread') quick.forget()
    const verdicts = quick.apply(batch, moment)
    if (!verdicts) return undefined
    this.#last = 'here'
    this.#rule.took('here', batch, quick.commitMs)
    return verdicts
  }

  async #applyThere(batch: PackedBatch, moment: Moment): Promise<Verdict[]> {
    const isAnew = this.#last === 'here'
    this.#last = 'thread'
    const answer = await this.#ask({ type: 'apply', batch, moment, isAnew })
    invariant(answer.type === 'applied', 'a batch is answered by its verdicts')
    this.#hasTraces = answer.hasTraces
    this.#rule.took('thread', batch, answer.commitMs)
    return answer.verdicts
  }

  async close(nextTask: number): Promise<void> {
    try {
      this.#quick?.close()
      // After a failed commit not even the numbers are written.
      await this.#ask({ type: 'close', nextTask: this.#failure ? 0 : nextTask })
    } catch (error) {
      this.#thread.end()
      throw error
    }
    this.#thread.giveBack()
  }

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
