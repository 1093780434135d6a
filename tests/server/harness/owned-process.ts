import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import type { Readable } from 'node:stream'
import { fileURLToPath } from 'node:url'

/** How a process ended: by a signal, or by itself with a code. */
export interface ProcessEnd {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
}

export interface ProcessOptions {
  /** Node, unless given. */
  readonly program?: string
  readonly arguments: readonly string[]
  readonly env: Readonly<Record<string, string>>
  /** Where it is started; the root of the repository unless given. */
  readonly folder?: string
  /** Called with each message of a process that has a channel to the test; there is none unless it is given. */
  readonly onMessage?: (message: unknown) => void
}

const root = fileURLToPath(new URL('../../../', import.meta.url))
// Compiled once for all of them, which halves the time that one takes to start.
const compileCache = `${root}.vitest/compile-cache`

/** A process of Node that the test started, and ends. */
export class OwnedProcess {
  readonly stdout: string[] = []
  readonly stderr: string[] = []
  readonly ended: Promise<ProcessEnd>
  readonly #child: ChildProcess
  readonly #listeners = new Set<(line: string) => void>()

  constructor(options: ProcessOptions) {
    const { PATH = '', HOME = '' } = process.env
    this.#child = spawn(options.program ?? process.execPath, options.arguments, {
      cwd: options.folder ?? root,
      // Nothing of the environment of the tests decides what a server does.
      env: { PATH, HOME, NODE_COMPILE_CACHE: compileCache, ...options.env },
      stdio: ['ignore', 'pipe', 'pipe', ...(options.onMessage ? ['ipc' as const] : [])],
    })
    if (options.onMessage) this.#child.on('message', options.onMessage)
    this.ended = this.#follow()
  }

  get pid(): number {
    return this.#child.pid ?? 0
  }

  send(message: object): void {
    this.#child.send(message)
  }

  /** Sends a signal and resolves when the process is gone. */
  async end(signal: NodeJS.Signals): Promise<ProcessEnd> {
    this.#child.kill(signal)
    return this.ended
  }

  signal(signal: NodeJS.Signals): void {
    this.#child.kill(signal)
  }

  /** The first line of its output that matches; rejects with its complaint if it ends without one. */
  async line(pattern: RegExp): Promise<RegExpExecArray> {
    const { promise, resolve } = Promise.withResolvers<RegExpExecArray>()
    const look = (line: string) => {
      const found = pattern.exec(line)
      if (found) resolve(found)
    }
    for (const line of this.stdout) look(line)
    this.#listeners.add(look)
    try {
      return await Promise.race([promise, this.#endWithout(pattern)])
    } finally {
      this.#listeners.delete(look)
    }
  }

  async #endWithout(pattern: RegExp): Promise<never> {
    const { code, signal } = await this.ended
    const said = [...this.stdout, ...this.stderr].join('\n')
    throw new Error(`The process ended with ${code ?? signal} and never said ${String(pattern)}:\n${said}`)
  }

  async #follow(): Promise<ProcessEnd> {
    const closed = [this.#gather(this.#child.stdout, this.stdout), this.#gather(this.#child.stderr, this.stderr)]
    const [code, signal] = (await once(this.#child, 'exit')) as [number | null, NodeJS.Signals | null]
    await Promise.all(closed)
    return { code, signal }
  }

  async #gather(input: Readable | null, lines: string[]): Promise<void> {
    if (!input) return
    const reader = createInterface({ input })
    reader.on('line', (line) => {
      lines.push(line)
      for (const listener of this.#listeners) listener(line)
    })
    await once(reader, 'close')
  }
}
