import { Worker } from 'node:worker_threads'
import { afterMs } from './clock.ts'
import type { WriterAnswer, WriterRequest } from './writer-thread.ts'

/** Whoever uses a thread is told what comes of it. */
export interface ThreadUser {
  answered(answer: WriterAnswer): void
  died(cause: Error | undefined): void
}

// Whoever opens one store after the other, as tests do, finds it here. A process that serves has one store, and opens it once.
const idleMax = 2
// The next test opens its store sooner. Where Holdfast is loaded anew for every file of tests, as Jest does it, nobody would ever
// take what the files before have left, and each thread has a heap of its own.
const idleMsMax = 1_000
const idle: WriterThread[] = []

/**
 * A thread for a writer, and after it for the next one: to start a thread takes 40 ms of a processor, to open a file two.
 *
 * D1 It has one user at a time. Whoever gives it back has closed its writer; where that failed it is ended instead.
 * D2 It keeps the process alive only while its user says so.
 * D3 It is ended when nobody has taken it for a while.
 */
export class WriterThread {
  readonly #worker: Worker
  #user: ThreadUser | undefined
  #isDead = false
  #stay: () => void = () => {}

  static take(user: ThreadUser): WriterThread {
    const thread = idle.pop() ?? new WriterThread()
    thread.#stay()
    thread.#user = user
    return thread
  }

  private constructor() {
    const entry = import.meta.url.endsWith('.ts') ? './writer-thread.ts' : './writer-thread.js'
    this.#worker = new Worker(new URL(entry, import.meta.url), { execArgv: [] })
    this.#worker.on('message', (answer: WriterAnswer) => this.#user?.answered(answer))
    this.#worker.on('error', (error) => this.#died(error))
    this.#worker.on('exit', () => this.#died(undefined))
  }

  post(request: WriterRequest): void {
    this.#worker.postMessage(request)
  }

  keepAlive(isNeeded: boolean): void {
    if (isNeeded) this.#worker.ref()
    else this.#worker.unref()
  }

  giveBack(): void {
    this.#user = undefined
    // It may have died right after its last answer.
    if (this.#isDead || idle.length >= idleMax) return this.end()
    idle.push(this)
    this.#stay = afterMs(idleMsMax, () => this.end())
  }

  end(): void {
    this.#leave()
    void this.#worker.terminate()
  }

  #died(cause: Error | undefined): void {
    this.#isDead = true
    this.#leave()
    this.#user?.died(cause)
  }

  #leave(): void {
    const place = idle.indexOf(this)
    if (place !== -1) idle.splice(place, 1)
  }
}
