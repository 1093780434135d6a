import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { inject, onTestFinished } from 'vitest'
import { RunningCli } from './cli.ts'

/** A folder that is gone after the test. */
export function tempFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'holdfast-cli-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

export interface LocalServerOptions {
  /** What starts it; `serve` on a free port unless given. */
  readonly args?: readonly string[]
  /** With `HOLDFAST_TOKENS` in it there is no owner. */
  readonly env?: Readonly<Record<string, string>>
  readonly folder: string
  /** Which program it is; that of this repository, put together, unless given. */
  readonly program?: string
}

/** A server of this machine, started by the command line, with the owner's token. */
export class LocalServer {
  readonly process: RunningCli
  readonly url: string
  static readonly token = 'owner-0123456789abcdef0123456789abcdef'

  /** Resolves when it answers. */
  static async start(options: LocalServerOptions): Promise<LocalServer> {
    const { args = ['serve', '--port', '0'], env = {}, folder, program = inject('program') } = options
    const process = new RunningCli(args, {
      folder,
      program,
      env: {
        ...('HOLDFAST_TOKENS' in env ? {} : { HOLDFAST_TOKEN: LocalServer.token }),
        XDG_STATE_HOME: folder,
        ...env,
      },
    })
    const [, url = ''] = await process.until(/^holdfast listening on (\S+)$/m)
    // What it has said before on stderr may be heard later in the same turn.
    await nextTurn()
    return new LocalServer(process, url)
  }

  private constructor(process: RunningCli, url: string) {
    this.process = process
    this.url = url
  }

  async get<Body>(path: string): Promise<Body> {
    const response = await fetch(`${this.url}${path}`, { headers: this.#headers() })
    if (!response.ok) throw new Error(`${path} answers ${response.status}: ${await response.text()}`)
    return (await response.json()) as Body
  }

  async post<Body>(path: string, body: object): Promise<Body> {
    const response = await fetch(`${this.url}${path}`, {
      method: 'POST',
      headers: { ...this.#headers(), 'content-type': 'application/json' },
      body: JSON.stringify(body),
    })
    if (!response.ok) throw new Error(`${path} answers ${response.status}: ${await response.text()}`)
    return (await response.json()) as Body
  }

  /** The events of a task or thread as text, until such a line has come; to its end if none is asked for. */
  async follow(path: string, until?: RegExp): Promise<string> {
    const controller = new AbortController()
    const headers = { ...this.#headers(), accept: 'application/x-ndjson' }
    const response = await fetch(`${this.url}${path}`, { headers, signal: controller.signal })
    let text = ''
    for await (const chunk of (response.body ?? new ReadableStream()).pipeThrough(new TextDecoderStream())) {
      text += chunk
      if (until?.test(text)) break
    }
    controller.abort()
    return text
  }

  async end(signal: 'SIGKILL' | 'SIGTERM' | 'SIGINT'): Promise<number | NodeJS.Signals> {
    this.process.child.kill(signal)
    return (await this.process.ended).code
  }

  #headers(): Record<string, string> {
    return { authorization: `Bearer ${LocalServer.token}` }
  }
}
