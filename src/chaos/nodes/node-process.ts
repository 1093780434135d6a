import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import type { Readable } from 'node:stream'
import { fileURLToPath } from 'node:url'

const program = fileURLToPath(new URL('../../../bin/holdfast.js', import.meta.url))
// Of what a process complained of, so much is kept to be shown.
const linesMax = 40

/** One `holdfast serve`, a child of this process. */
export class NodeProcess {
  readonly exited: Promise<number | null>
  readonly #child: ChildProcess
  readonly #said: string[] = []
  readonly #listening = Promise.withResolvers<string>()

  constructor(env: Readonly<Record<string, string>>, onLine: (line: string) => void) {
    // Nothing of the environment of this process decides what a node does.
    this.#child = spawn(process.execPath, [program, 'serve', '--port', '0'], { env, stdio: ['ignore', 'pipe', 'pipe'] })
    this.#follow(this.#child.stdout, onLine)
    this.#follow(this.#child.stderr, onLine)
    // However this process ends, it leaves no other behind.
    const kill = () => this.#child.kill('SIGKILL')
    process.once('exit', kill)
    this.exited = once(this.#child, 'exit').then(([code]) => {
      process.off('exit', kill)
      return code as number | null
    })
    this.#listening.promise.catch(() => {})
    void this.exited.then((code) => this.#listening.reject(new Error(`The node ended with ${code}: ${this.said}`)))
  }

  get pid(): number | undefined {
    return this.#child.pid
  }

  /** Where it listens, once it does. */
  get url(): Promise<string> {
    return this.#listening.promise
  }

  /** The last that it said. */
  get said(): string {
    return this.#said.join('\n')
  }

  signal(signal: NodeJS.Signals): void {
    this.#child.kill(signal)
  }

  /** As `kill -9` does, also of one that is frozen; resolves when it is gone. */
  async kill(): Promise<void> {
    this.#child.kill('SIGKILL')
    await this.exited
  }

  #follow(output: Readable | null, onLine: (line: string) => void): void {
    if (!output) return
    createInterface({ input: output }).on('line', (line) => {
      const [, url] = /^holdfast listening on (http:\S+)$/.exec(line) ?? []
      if (url !== undefined) this.#listening.resolve(url)
      onLine(line)
      this.#said.push(line)
      if (this.#said.length > linesMax) this.#said.shift()
    })
  }
}
