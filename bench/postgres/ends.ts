import type { Runtime } from '../../src/index.ts'

/** Tells of ends as a client does that watches all threads: with one stream, and no question about a single task. */
export class Ends {
  readonly #waiting = new Map<string, () => void>()
  readonly #ended = new Set<string>()

  static async of(runtime: Runtime): Promise<Ends> {
    const ends = new Ends()
    const stream = await runtime.openFirehose({ types: ['task.completed', 'task.failed', 'task.cancelled'] })
    void (async () => {
      for (let entries = await stream.next(); entries; entries = await stream.next()) {
        for (const { task = '', type } of entries) ends.#heard(task, type)
      }
    })()
    return ends
  }

  /** Each end is asked for once. */
  of(task: string): Promise<void> {
    if (this.#ended.delete(task)) return Promise.resolve()
    return new Promise((resolve) => this.#waiting.set(task, resolve))
  }

  #heard(task: string, type: string): void {
    if (type !== 'task.completed') throw new Error(`${task} did not complete`)
    const resolve = this.#waiting.get(task)
    if (!resolve) this.#ended.add(task)
    else resolve()
    this.#waiting.delete(task)
  }
}
