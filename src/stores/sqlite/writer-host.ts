import { HoldfastError, invariant } from '../../core/errors.ts'
import type { Unit, Verdict } from '../../core/unit.ts'
import type { Moment } from './batch.ts'
import { fromFailure } from './failure.ts'
import { LineBytes } from './line-bytes.ts'
import { packBatch } from './packed-batch.ts'
import type { WriterOptions } from './writer.ts'
import type { WriterAnswer, WriterRequest } from './writer-thread.ts'
import { WriterThread } from './writer-threads.ts'

interface Waiting {
  readonly resolve: (answer: WriterAnswer) => void
  readonly reject: (error: Error) => void
}

/**
 * Hosts the writer on a thread of its own, so that an fsync stalls nobody; why, and what it costs, is in
 * docs/decisions/0002-sqlite-writer-thread.md.
 *
 * H1 Requests reach the writer in the order of the calls and are answered in that order.
 * H2 The thread keeps the process alive exactly while an answer is awaited.
 * H3 The lines of a batch are in memory that the thread reads as well, and nothing else is written there before it has answered.
 * H4 If the thread dies, nobody knows whether its last commit was made: what waits, and all that comes, is `store_failed`.
 */
export class WriterHost {
  readonly #path: string
  readonly #thread: WriterThread
  readonly #waiting: Waiting[] = []
  /** For the next batch, unless one that is not answered has it. */
  #lines: LineBytes | undefined
  #end: Error | undefined

  /** Takes a thread and opens the file; the answer is the host and the lowest task number never used. */
  static async open(options: WriterOptions): Promise<{ host: WriterHost; nextTask: number }> {
    const host = new WriterHost(options.path)
    try {
      const answer = await host.#ask({ type: 'open', options })
      invariant(answer.type === 'opened', 'a writer opens first')
      return { host, nextTask: answer.nextTask }
    } catch (error) {
      host.#thread.end()
      throw error
    }
  }

  private constructor(path: string) {
    this.#path = path
    this.#thread = WriterThread.take({
      answered: (answer) => this.#settle(answer),
      died: (cause) => this.#die(cause),
    })
  }

  async apply(units: readonly Unit[], moment: Moment): Promise<Verdict[]> {
    const lines = this.#lines ?? new LineBytes()
    this.#lines = undefined
    try {
      const answer = await this.#ask({ type: 'apply', batch: packBatch(units, lines), moment })
      invariant(answer.type === 'applied', 'a batch is answered by its verdicts')
      return answer.verdicts
    } finally {
      lines.clear()
      this.#lines = lines
    }
  }

  async close(nextTask: number): Promise<void> {
    try {
      await this.#ask({ type: 'close', nextTask })
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
