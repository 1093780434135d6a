import { Worker } from 'node:worker_threads'
import { HoldfastError, invariant } from '../../core/errors.ts'
import type { Unit, Verdict } from '../../core/unit.ts'
import type { Moment } from './batch.ts'
import { fromFailure } from './failure.ts'
import { LineBytes } from './line-bytes.ts'
import { packBatch } from './packed-batch.ts'
import type { WriterOptions } from './writer.ts'
import type { WriterAnswer, WriterRequest } from './writer-thread.ts'

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
  readonly #thread: Worker
  readonly #waiting: Waiting[] = []
  /** For the next batch, unless one that is not answered has it. */
  #lines: LineBytes | undefined
  #end: Error | undefined

  /** Starts the thread and opens the file; the answer is the host and the lowest task number never used. */
  static async open(options: WriterOptions): Promise<{ host: WriterHost; nextTask: number }> {
    const host = new WriterHost(options)
    const answer = await host.#answer()
    invariant(answer.type === 'opened', 'a writer opens first')
    return { host, nextTask: answer.nextTask }
  }

  private constructor(options: WriterOptions) {
    this.#path = options.path
    const entry = import.meta.url.endsWith('.ts') ? './writer-thread.ts' : './writer-thread.js'
    this.#thread = new Worker(new URL(entry, import.meta.url), { workerData: options, execArgv: [] })
    this.#thread.on('message', (answer: WriterAnswer) => this.#settle(answer))
    this.#thread.on('error', (error) => this.#die(error))
    this.#thread.on('exit', () => this.#die(undefined))
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
    await this.#ask({ type: 'close', nextTask })
  }

  #ask(request: WriterRequest): Promise<WriterAnswer> {
    if (this.#end) return Promise.reject(this.#end)
    this.#thread.postMessage(request)
    return this.#answer()
  }

  #answer(): Promise<WriterAnswer> {
    return new Promise((resolve, reject) => {
      if (this.#waiting.push({ resolve, reject }) === 1) this.#thread.ref()
    })
  }

  #settle(answer: WriterAnswer): void {
    const waiting = this.#waiting.shift()
    if (this.#waiting.length === 0) this.#thread.unref()
    if (answer.type === 'failed') waiting?.reject(fromFailure(answer.failure))
    else waiting?.resolve(answer)
  }

  #die(cause: Error | undefined): void {
    const message = `The writer of ${this.#path} died, perhaps amid a commit. Stop, and start again`
    this.#end ??= new HoldfastError('store_failed', message, { cause })
    for (const waiting of this.#waiting.splice(0)) waiting.reject(this.#end)
  }
}
