import { afterEach } from 'vitest'
import { type CreateRuntimeOptions, createRuntime } from '../../../src/index.ts'
import type { AgentContext, Agents } from '../../../src/runtime/agent.ts'
import { echoAgent } from '../../../src/runtime/agents/echo.ts'
import { scriptAgent } from '../../../src/runtime/agents/script.ts'
import { systemClock } from '../../../src/runtime/clock.ts'
import type { Logger } from '../../../src/runtime/logger.ts'
import type { Runtime } from '../../../src/runtime/runtime.ts'
import { createApp } from '../../../src/server/app.ts'
import type { App } from '../../../src/server/app-env.ts'
import { compose } from '../../../src/server/compose.ts'
import type { HandlerOptions } from '../../../src/server/options.ts'
import { memoryStore } from '../../../src/stores/memory/index.ts'
import { type FaultyStore, faultyStore } from '../../../src/testing/faulty-store.ts'

/** An answer with its body read. */
export interface Answered {
  readonly status: number
  readonly headers: Headers
  readonly text: string
  // The tests say what is in it.
  readonly body: Body
}

type Body = { readonly [field: string]: Body } & { readonly [place: number]: Body }

export interface AskOptions {
  /** Whose token is sent; alice's unless given, none for an empty name. */
  readonly as?: string
  readonly body?: unknown
  /** Sent as it is, instead of `body`. */
  readonly rawBody?: string | Uint8Array | ReadableStream<Uint8Array>
  readonly headers?: Readonly<Record<string, string>>
}

/** A server without sockets, on a store in memory. */
export interface TestSite {
  readonly app: App
  readonly runtime: Runtime
  readonly store: FaultyStore
  readonly logged: readonly {
    readonly level: string
    readonly facts: Record<string, unknown>
    readonly message: string
  }[]
  ask(method: string, path: string, options?: AskOptions): Promise<Answered>
}

export const tokens = { alice: 'alice-token-0123456789', bob: 'bob-token-0123456789abc' }

const open: Runtime[] = []

afterEach(async () => {
  for (const runtime of open.splice(0)) await runtime.close({ drainMs: 0 })
})

/** Runs until it is cancelled. */
async function held({ signal }: AgentContext): Promise<void> {
  await new Promise((resolve) => signal.addEventListener('abort', resolve))
}

const agents: Agents = { echo: echoAgent(), script: scriptAgent(), held: { run: held } }

export async function openSite(
  settings: Partial<HandlerOptions> & Omit<CreateRuntimeOptions, 'store' | 'log' | 'clock'> = {},
): Promise<TestSite> {
  const { basePath, hosts, origins, authenticate, ...rest } = settings
  const store = faultyStore(memoryStore({ clock: movingClock() }))
  const logged: { level: string; facts: Record<string, unknown>; message: string }[] = []
  const runtime = createRuntime({ agents, ...rest, store })
  open.push(runtime)
  const parts = await compose(runtime, {
    tokens,
    log: recordingLog(logged),
    ...(basePath !== undefined && { basePath }),
    ...(hosts && { hosts }),
    ...(origins && { origins }),
    ...(authenticate && { authenticate }),
  })()
  const app = createApp(parts)
  return { app, runtime, store, logged, ask: (method, path, options) => ask(app, method, path, options) }
}

/** The time of the machine, but never the same instant twice: what is listed by its time has one order. */
function movingClock(): { now(): number } {
  let last = 0
  return {
    now() {
      last = Math.max(last + 1, systemClock.now())
      return last
    },
  }
}

async function ask(app: App, method: string, path: string, options: AskOptions = {}): Promise<Answered> {
  const { as = 'alice', body, rawBody, headers } = options
  const token = tokens[as as keyof typeof tokens]
  const sent = rawBody ?? (body === undefined ? undefined : JSON.stringify(body))
  const request = new Request(`http://127.0.0.1:4747${path}`, {
    method,
    headers: { host: '127.0.0.1:4747', ...(token && { authorization: `Bearer ${token}` }), ...headers },
    ...(sent !== undefined && { body: sent as NonNullable<RequestInit['body']>, duplex: 'half' as const }),
  })
  const response = await app.fetch(request)
  const text = await textOf(response)
  const isJson = response.headers.get('content-type')?.includes('json') === true && text !== ''
  return { status: response.status, headers: response.headers, text, body: (isJson ? JSON.parse(text) : {}) as Body }
}

/** Of a stream, which need not end, only the head is taken. */
async function textOf(response: Response): Promise<string> {
  if (!response.headers.get('content-type')?.startsWith('text/event-stream')) return response.text()
  await response.body?.cancel()
  return ''
}

function recordingLog(logged: { level: string; facts: Record<string, unknown>; message: string }[]): Logger {
  const level = (name: string) => (facts: object, message: string) => {
    logged.push({ level: name, facts: { ...facts }, message })
  }
  return { debug: level('debug'), info: level('info'), warn: level('warn'), error: level('error') }
}
