import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'

interface Asked {
  readonly n: number
  readonly name: string
  readonly given: unknown
}

interface Answer {
  readonly n: number
  readonly value?: unknown
  readonly error?: string
}

/** What a child process answers to, by name. */
export type Answers = Readonly<Record<string, (given: never) => unknown>>

/** Answers what the parent asks, until the parent goes. */
export function answerParent(answers: Answers): void {
  process.on('message', (asked: Asked) => void answer(answers, asked))
  process.on('disconnect', () => process.exit(0))
}

async function answer(answers: Answers, { n, name, given }: Asked): Promise<void> {
  try {
    const value = await answers[name]?.(given as never)
    process.send?.({ n, value } satisfies Answer)
  } catch (error) {
    process.send?.({ n, error: String(error instanceof Error ? error.stack : error) } satisfies Answer)
  }
}

/** A process of the benchmark, asked one thing at a time or many. */
export class Child {
  readonly #process: ChildProcess
  readonly #waiting = new Map<number, { resolve(value: unknown): void; reject(error: Error): void }>()
  #count = 0

  constructor(file: string, args: readonly string[] = []) {
    this.#process = fork(new URL(file, import.meta.url), args, { execArgv: ['--expose-gc'] })
    this.#process.on('message', (answer) => this.#answered(answer as Answer))
    this.#process.on('exit', (code) => {
      for (const { reject } of this.#waiting.values()) reject(new Error(`${file} ended with ${code}`))
    })
  }

  ask<Value>(name: string, given: unknown = {}): Promise<Value> {
    const n = this.#count++
    this.#process.send({ n, name, given } satisfies Asked)
    return new Promise((resolve, reject) => this.#waiting.set(n, { resolve, reject }))
  }

  /** Ends it at once, as a crash does. */
  kill(): void {
    this.#process.kill('SIGKILL')
  }

  async end(): Promise<void> {
    if (this.#process.exitCode !== null || this.#process.signalCode !== null) return
    this.#process.disconnect()
    await once(this.#process, 'exit')
  }

  #answered({ n, value, error }: Answer): void {
    const waiting = this.#waiting.get(n)
    this.#waiting.delete(n)
    if (error === undefined) waiting?.resolve(value)
    else waiting?.reject(new Error(error))
  }
}
