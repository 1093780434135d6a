import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process'
import { once } from 'node:events'
import { tmpdir } from 'node:os'
import { fileURLToPath } from 'node:url'
import { onTestFinished } from 'vitest'
import type { TestServer } from '../../server/harness/server.ts'

export const program = fileURLToPath(new URL('../../../bin/holdfast.js', import.meta.url))
// Compiled once for all of them.
const compileCache = fileURLToPath(new URL('../../../.vitest/compile-cache', import.meta.url))

export interface CliOptions {
  /** The server that is asked, as alice; none unless given. */
  readonly server?: TestServer
  readonly env?: Readonly<Record<string, string>>
  /** What its standard input is; nothing unless given. */
  readonly input?: string
  /** Where it is started. */
  readonly folder?: string
  readonly nodeFlags?: readonly string[]
  /** Which Node runs it; that of the tests unless given. */
  readonly node?: string
  /** Which program is run; that of this repository unless given. */
  readonly program?: string
}

export interface CliEnd {
  /** 0 and up, or the name of the signal that ended it. */
  readonly code: number | NodeJS.Signals
  readonly stdout: string
  readonly stderr: string
}

/** Runs a command with pipes to its end. */
export async function cli(args: readonly string[], options: CliOptions = {}): Promise<CliEnd> {
  return new RunningCli(args, options, false).ended
}

/** The environment of a command: nothing of the tests' own decides what it does. */
export function cliEnv({ server, env }: Pick<CliOptions, 'server' | 'env'> = {}): Record<string, string> {
  const { PATH = '' } = process.env
  const token = server?.tokens['alice']
  return {
    PATH,
    HOME: '/nonexistent',
    NODE_COMPILE_CACHE: compileCache,
    ...(server && { HOLDFAST_URL: server.url }),
    ...(token !== undefined && { HOLDFAST_TOKEN: token }),
    ...env,
  }
}

/** A command at work, whose output is read as it comes. */
export class RunningCli {
  stdout = ''
  stderr = ''
  readonly ended: Promise<CliEnd>
  readonly child: ChildProcessWithoutNullStreams
  readonly #waiting = new Set<() => void>()

  /** Ended with its test, unless that waits for its end. */
  constructor(args: readonly string[], options: CliOptions = {}, isEnded = true) {
    const { folder = tmpdir(), nodeFlags = [], node = process.execPath, program: chosen = program, input } = options
    this.child = spawn(node, [...nodeFlags, chosen, ...args], { cwd: folder, env: cliEnv(options) })
    this.child.stdin.on('error', () => {})
    this.child.stdin.end(input)
    this.child.stdout.setEncoding('utf8').on('data', (text: string) => this.#hear({ stdout: text }))
    this.child.stderr.setEncoding('utf8').on('data', (text: string) => this.#hear({ stderr: text }))
    this.ended = this.#end()
    if (!isEnded) return
    onTestFinished(async () => {
      this.child.kill('SIGKILL')
      await this.ended
    })
  }

  /** Resolves when this stands in what it said; rejects if it ends without. */
  async until(pattern: RegExp, stream: 'stdout' | 'stderr' = 'stdout'): Promise<RegExpExecArray> {
    for (;;) {
      const found = pattern.exec(this[stream])
      if (found) return found
      const heard = new Promise<'heard'>((resolve) => {
        this.#waiting.add(() => resolve('heard'))
      })
      const end = await Promise.race([heard, this.ended])
      if (end !== 'heard' && !pattern.test(this[stream])) {
        throw new Error(`It ended with ${end.code} and never said ${String(pattern)}:\n${end.stdout}\n${end.stderr}`)
      }
    }
  }

  #hear({ stdout = '', stderr = '' }: { readonly stdout?: string; readonly stderr?: string }): void {
    this.stdout += stdout
    this.stderr += stderr
    for (const wake of this.#waiting) wake()
    this.#waiting.clear()
  }

  async #end(): Promise<CliEnd> {
    const [code, signal] = (await once(this.child, 'close')) as [number | null, NodeJS.Signals | null]
    return { code: code ?? signal ?? 1, stdout: this.stdout, stderr: this.stderr }
  }
}
