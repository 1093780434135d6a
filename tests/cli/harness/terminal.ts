import { tmpdir } from 'node:os'
import { type IPty, spawn } from '@lydell/node-pty'
import xterm from '@xterm/headless'
import { onTestFailed, onTestFinished } from 'vitest'
import { type CliOptions, cliEnv, program } from './cli.ts'

export interface TerminalOptions extends Pick<CliOptions, 'server' | 'env' | 'folder'> {
  readonly columns?: number
  readonly rows?: number
}

/** What the keys send that are no letters. */
export const keys = {
  enter: '\r',
  interrupt: '\u0003',
  endOfInput: '\u0004',
  eraseWord: '\u0017',
  backspace: '\u007f',
  left: '\u001b[D',
  up: '\u001b[A',
  home: '\u001b[H',
}

/** The command line in a terminal of its own, on whose keys the test types and whose screen it reads. */
export class TerminalScreen {
  readonly ended: Promise<number>
  readonly #screen: xterm.Terminal
  readonly #process: IPty
  readonly #waiting = new Set<() => void>()
  #received = ''
  #code: number | undefined

  constructor(args: readonly string[], options: TerminalOptions = {}) {
    const { columns = 100, rows = 30, folder = tmpdir() } = options
    this.#screen = new xterm.Terminal({ cols: columns, rows, scrollback: 10_000, allowProposedApi: true })
    this.#process = spawn(process.execPath, [program, ...args], {
      name: 'xterm-256color',
      cols: columns,
      rows,
      cwd: folder,
      env: { TERM: 'xterm-256color', ...cliEnv(options) },
    })
    this.#process.onData((data) => {
      this.#received += data
      this.#screen.write(data, () => this.#look())
    })
    // What a program asks its terminal, such as where the cursor is, is answered.
    this.#screen.onData((answer) => this.#process.write(answer))
    this.ended = new Promise((resolve) => {
      this.#process.onExit(({ exitCode, signal }) => {
        // As a shell tells how a command ended by a signal. What was written before has to be on the screen first.
        const code = signal ? 128 + signal : exitCode
        this.#screen.write('', () => {
          this.#code = code
          this.#look()
          resolve(code)
        })
      })
    })
    onTestFailed(() => console.error(this.text))
    onTestFinished(() => this.close())
  }

  get pid(): number {
    return this.#process.pid
  }

  /** All that is on the screen and above it, as a person reads it: lines the terminal has broken are one. */
  get text(): string {
    const { active } = this.#screen.buffer
    const lines: string[] = []
    for (let row = 0; row < active.length; row += 1) {
      const line = active.getLine(row)
      const text = line?.translateToString(!active.getLine(row + 1)?.isWrapped) ?? ''
      if (line?.isWrapped) lines.push((lines.pop() ?? '') + text)
      else lines.push(text)
    }
    return lines.join('\n').trimEnd()
  }

  /** The rows of the screen alone, as they stand. */
  get rows(): readonly string[] {
    const { active } = this.#screen.buffer
    return Array.from({ length: this.#screen.rows }, (_, row) => {
      return active.getLine(active.baseY + row)?.translateToString(true) ?? ''
    })
  }

  /** Everything that was written, with all that steers the terminal. */
  get received(): string {
    return this.#received
  }

  type(text: string): void {
    this.#process.write(text)
  }

  resize(columns: number, rows: number): void {
    this.#screen.resize(columns, rows)
    this.#process.resize(columns, rows)
  }

  /** Resolves when this is on the screen; rejects with what is there if the program ends without it. */
  shows(pattern: RegExp): Promise<RegExpExecArray> {
    return this.until((text) => pattern.exec(text) ?? undefined, String(pattern))
  }

  /** Resolves when this was written, though it may have been overwritten since: a spinner, a bar. */
  wrote(pattern: RegExp): Promise<RegExpExecArray> {
    return this.until(() => pattern.exec(this.#received) ?? undefined, String(pattern))
  }

  /** Looks again whenever something was written. */
  async until<Found>(find: (text: string) => Found | undefined, what = 'what was waited for'): Promise<Found> {
    for (;;) {
      const found = find(this.text)
      if (found !== undefined) return found
      if (this.#code !== undefined) throw new Error(`It ended with ${this.#code} without ${what}:\n${this.text}`)
      await new Promise<void>((resolve) => {
        this.#waiting.add(resolve)
      })
    }
  }

  close(): void {
    if (this.#code === undefined) this.#process.kill('SIGKILL')
    this.#screen.dispose()
  }

  #look(): void {
    const waiting = [...this.#waiting]
    this.#waiting.clear()
    for (const wake of waiting) wake()
  }
}
