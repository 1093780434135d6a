import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { inject } from 'vitest'
import { type TestSchema, testSchema } from '../../postgres/harness/schema.ts'
import { OwnedProcess, type ProcessEnd } from './owned-process.ts'

/** PostgreSQL only in the project that has a server of it. */
export type StoreKind = 'memory' | 'sqlite' | 'postgres'

export interface StartOptions {
  readonly store: StoreKind
  /** On PostgreSQL, what it shares with other servers; whoever made it drops it. Else it has one of its own. */
  readonly schema?: TestSchema
  /** Tokens by principal; alice and bob have one unless this is given. */
  readonly tokens?: Readonly<Record<string, string>>
  readonly env?: Readonly<Record<string, string>>
}

export interface RequestOptions {
  /** Sent as JSON; a text is sent as it is. */
  readonly body?: unknown
  readonly headers?: Readonly<Record<string, string>>
  /** The principal who asks; alice unless given, nobody if empty. */
  readonly as?: string
  readonly signal?: AbortSignal
}

export interface Answer<Body> {
  readonly status: number
  readonly headers: Headers
  readonly text: string
  /** The JSON of the answer; undefined if it is something else. */
  readonly body: Body
}

const defaultTokens = {
  alice: 'alice-0123456789abcdef0123456789abcdef',
  bob: 'bob-fedcba9876543210fedcba9876543210',
}

const source = fileURLToPath(new URL('../../../bin/holdfast.js', import.meta.url))

/** A started server and its data folder, which stays the same over restarts. */
export class TestServer {
  url = ''
  readonly tokens: Readonly<Record<string, string>>
  readonly #options: StartOptions
  readonly #folder: string
  readonly #schema: TestSchema | undefined
  #process: OwnedProcess | undefined

  constructor(options: StartOptions, folder: string) {
    this.#options = options
    this.#folder = folder
    this.#schema = options.store === 'postgres' ? (options.schema ?? testSchema()) : undefined
    this.tokens = options.tokens ?? defaultTokens
  }

  get pid(): number {
    return this.process.pid
  }

  get stderr(): readonly string[] {
    return this.process.stderr
  }

  get stdout(): readonly string[] {
    return this.process.stdout
  }

  protected get process(): OwnedProcess {
    if (!this.#process) throw new Error('Start the server first')
    return this.#process
  }

  /** Starts it, again on the same data; the port is a new one. */
  async start(): Promise<void> {
    this.#process = this.launch(this.#settings())
    const [, url = ''] = await this.#process.line(/^holdfast listening on (http:\S+)$/)
    this.url = url
  }

  /** As `kill -9` does; resolves when it is gone. */
  kill9(): Promise<ProcessEnd> {
    return this.process.end('SIGKILL')
  }

  async restart(): Promise<void> {
    await this.kill9()
    await this.start()
  }

  /** Asks it to drain and exit. */
  stop(): Promise<ProcessEnd> {
    return this.process.end('SIGTERM')
  }

  signal(signal: NodeJS.Signals): void {
    this.process.signal(signal)
  }

  async request<Body = unknown>(method: string, path: string, options: RequestOptions = {}): Promise<Answer<Body>> {
    const { body, signal } = options
    const response = await fetch(`${this.url}${path}`, {
      method,
      headers: {
        ...this.authorization(options.as),
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...options.headers,
      },
      ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
      ...(signal && { signal }),
      redirect: 'manual',
    })
    const text = await response.text()
    const isJson = /\bjson\b/.test(response.headers.get('content-type') ?? '') && text !== ''
    return {
      status: response.status,
      headers: response.headers,
      text,
      body: (isJson ? JSON.parse(text) : undefined) as Body,
    }
  }

  authorization(principal = 'alice'): Record<string, string> {
    const token = this.tokens[principal]
    return token === undefined ? {} : { authorization: `Bearer ${token}` }
  }

  /** All bytes of its data folder, by file. */
  async files(): Promise<Map<string, Buffer>> {
    const names = await readdir(this.#folder, { recursive: true, withFileTypes: true })
    const paths = names.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name))
    return new Map(await Promise.all(paths.map(async (path) => [path, await readFile(path)] as const)))
  }

  /** Kills it if it lives, and removes its data. */
  async end(): Promise<void> {
    await this.#process?.end('SIGKILL')
    if (!this.#options.schema) await this.#schema?.drop()
    await rm(this.#folder, { recursive: true, force: true })
  }

  protected launch(env: Readonly<Record<string, string>>): OwnedProcess {
    // Where servers are few, the program is not put together for them.
    const program: string | undefined = inject('program')
    return new OwnedProcess({ arguments: [program ?? source, 'serve', '--port', '0'], env })
  }

  #settings(): Record<string, string> {
    const tokens = Object.entries(this.tokens).map(([principal, token]) => `${principal}=${token}`)
    return {
      HOLDFAST_STORE: this.#storeUrl(),
      HOLDFAST_TOKENS: tokens.join(','),
      XDG_STATE_HOME: this.#folder,
      XDG_CONFIG_HOME: this.#folder,
      ...this.#options.env,
    }
  }

  #storeUrl(): string {
    if (this.#schema) return this.#schema.url
    return this.#options.store === 'memory' ? 'memory:' : `sqlite:${join(this.#folder, 'holdfast.db')}`
  }
}

/** A folder for the data of one server. */
export function makeFolder(): Promise<string> {
  return mkdtemp(join(tmpdir(), 'holdfast-server-'))
}

/** A server that its maker ends. */
export async function startServer(options: StartOptions): Promise<TestServer> {
  const server = new TestServer(options, await makeFolder())
  try {
    await server.start()
  } catch (error) {
    await server.end()
    throw error
  }
  return server
}
