import { execFile } from 'node:child_process'
import { appendFileSync, chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { delimiter, dirname, join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { onTestFinished } from 'vitest'
import { OwnedProcess } from '../server/harness/owned-process.ts'
import type { Packed } from './packed.ts'

const root = resolve(import.meta.dirname, '../..')
const run = promisify(execFile)

/**
 * Somebody who types what a page says, with a home of their own, into a project that has the package. What npm would fetch from a
 * registry stands in the repository already: `npx` finds it, and of `npm install` and `npm pack` only that they were called is kept.
 */
export class Newcomer {
  readonly #packed: Packed
  readonly #home: string
  readonly #programs: string

  constructor(packed: Packed) {
    this.#packed = packed
    this.#home = join(packed.folder, 'home')
    this.#programs = join(packed.folder, 'programs')
    mkdirSync(this.#home, { recursive: true })
    mkdirSync(this.#programs, { recursive: true })
    const node = process.execPath
    this.#program('npx', [
      'program=$1; shift',
      'case $program in',
      `holdfast) exec '${node}' '${join(packed.folder, 'node_modules/holdfast/bin/holdfast.js')}' "$@";;`,
      `vite) exec '${node}' '${join(root, 'node_modules/vite/bin/vite.js')}' "$@";;`,
      'esac',
      'exit 127',
    ])
    this.#program('npm', [
      'case $1 in',
      `pack|install) echo "$@" >> '${this.#calls}';;`,
      `*) PATH='${dirname(node)}':'${process.env['PATH'] ?? ''}' exec npm "$@";;`,
      'esac',
    ])
  }

  /** What was asked of npm that it was kept from. */
  get npmCalls(): readonly string[] {
    return existsSync(this.#calls) ? readFileSync(this.#calls, 'utf8').trim().split('\n') : []
  }

  /** Writes the files of a part into the project. */
  write(files: Readonly<Record<string, string>>): void {
    for (const [name, text] of Object.entries(files)) this.#packed.write(name, text)
  }

  /** Types a block to its end; rejects if a line of it fails. What it printed, both ways. */
  async type(block: string, env: Readonly<Record<string, string>> = {}, folder = this.#packed.folder): Promise<string> {
    const { stdout, stderr } = await run('/bin/bash', ['-ec', block], { cwd: folder, env: this.#env(env) })
    return stdout + stderr
  }

  /** Starts what a block starts, and leaves it to the end of the test. */
  start(block: string, env: Readonly<Record<string, string>> = {}): OwnedProcess {
    // Without a shell in between, whose end would not be that of the program.
    const command = block.trim().replace(/(?=npx )/, 'exec ')
    const started = new OwnedProcess({
      program: '/bin/bash',
      arguments: ['-ec', command],
      env: this.#env(env),
      folder: this.#packed.folder,
    })
    onTestFinished(async () => void (await started.end('SIGKILL')))
    return started
  }

  /** Starts a server as a block says, on a free port. */
  async serve(
    block: string,
    env: Readonly<Record<string, string>> = {},
  ): Promise<{ server: OwnedProcess; url: string }> {
    const anyPort = block.replace(/ --port \d+/, '').replace('holdfast serve', 'holdfast serve --port 0')
    const server = this.start(anyPort, env)
    const [, url = ''] = await server.line(/^holdfast listening on (\S+)$/)
    return { server, url }
  }

  get #calls(): string {
    return join(this.#home, 'npm-calls')
  }

  #env(env: Readonly<Record<string, string>>): Record<string, string> {
    const PATH = [this.#programs, dirname(process.execPath), process.env['PATH'] ?? ''].join(delimiter)
    return { PATH, HOME: this.#home, XDG_STATE_HOME: join(this.#home, 'state'), ...env }
  }

  #program(name: string, lines: readonly string[]): void {
    const path = join(this.#programs, name)
    writeFileSync(path, '#!/bin/sh\n')
    appendFileSync(path, `${lines.join('\n')}\n`)
    chmodSync(path, 0o755)
  }
}
