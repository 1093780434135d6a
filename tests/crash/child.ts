import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { globSync, readFileSync } from 'node:fs'
import { createInterface } from 'node:readline'
import type { Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { type Entry, parseEntry } from './journal.ts'

/** How a child ended: by the signal, or by itself with a code and what it had to complain of. */
export interface ChildEnd {
  readonly signal: NodeJS.Signals | null
  readonly code: number | null
  readonly complaint: string
}

// Compiled once for all children, which halves the time that one takes to start.
const compileCache = fileURLToPath(new URL('../../.vitest/compile-cache', import.meta.url))

/** A process of the harness's own that writes a journal. */
export class Child {
  readonly entries: Entry[] = []
  readonly #process: ChildProcess
  readonly #ended: Promise<ChildEnd>

  /** Starts a program of this folder, with its options as the only argument. */
  constructor(program: string, options: object, onEntry: (entry: Entry, child: Child) => void = () => {}) {
    const path = fileURLToPath(new URL(program, import.meta.url))
    this.#process = spawn(process.execPath, [path, JSON.stringify(options)], {
      stdio: ['ignore', 'ignore', 'pipe', 'pipe'],
      env: { ...process.env, NODE_COMPILE_CACHE: compileCache },
    })
    this.#ended = this.#follow(onEntry)
  }

  /** As `kill -9` does. */
  kill(): void {
    this.#process.kill('SIGKILL')
  }

  /** Asks it to close. */
  stop(): void {
    this.#process.kill('SIGTERM')
  }

  /** Stops it where it stands, holding all it holds. Returns when no thread of it runs any more; Linux only. */
  freeze(): void {
    this.#process.kill('SIGSTOP')
    while (!threadStates(this.#process.pid).every((status) => status === 'T'));
  }

  /** Resolves when it is gone and all that it wrote has been read. */
  ended(): Promise<ChildEnd> {
    return this.#ended
  }

  async #follow(onEntry: (entry: Entry, child: Child) => void): Promise<ChildEnd> {
    const [, , stderr, journal] = this.#process.stdio
    const complaint = text(stderr as Readable)
    const lines = createInterface({ input: journal as Readable })
    let failure: { readonly error: unknown } | undefined
    lines.on('line', (line) => {
      const entry = parseEntry(line)
      if (!entry) return
      this.entries.push(entry)
      try {
        onEntry(entry, this)
      } catch (error) {
        // Nobody would be left to end it.
        failure ??= { error }
        this.kill()
      }
    })
    const closed = once(lines, 'close')
    const [code, signal] = (await once(this.#process, 'exit')) as [number | null, NodeJS.Signals | null]
    await closed
    if (failure) throw failure.error
    return { code, signal, complaint: await complaint }
  }
}

/** The letters that the kernel gives to what each thread of a process does. */
function threadStates(pid: number | undefined): string[] {
  const stats = globSync(`/proc/${pid}/task/*/stat`).map((path) => readFileSync(path, 'utf8'))
  // The name in parentheses may hold anything, spaces too.
  return stats.map((stat) => stat.charAt(stat.lastIndexOf(')') + 2))
}
