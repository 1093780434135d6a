import { Agent, request as httpRequest, type IncomingMessage } from 'node:http'
import type { Readable } from 'node:stream'
import {
  type Agents,
  createHandler,
  createRuntime,
  echoAgent,
  type HandlerOptions,
  type Runtime,
  scriptAgent,
  serve,
} from '../../../src/index.ts'
import { createApp } from '../../../src/server/app.ts'
import { compose } from '../../../src/server/compose.ts'

export interface SiteRequest {
  readonly method: string
  /** Below the base path. */
  readonly path: string
  readonly headers?: Readonly<Record<string, string>>
  /** Sent as JSON. */
  readonly body?: unknown
  /** A stream is read until this has come; without it only its head is. */
  readonly until?: string
  /** Called when the head of a stream has come, before it is read. */
  readonly onOpen?: () => Promise<void>
}

export interface Reply {
  readonly status: number
  /** Without `Date`, and in lower case. */
  readonly headers: Readonly<Record<string, string>>
  readonly text: string
}

/** The ways in which the routes are put on a wire. */
export const siteKinds = ['serve', 'serve under a base path', 'createHandler under a base path'] as const
export type SiteKind = (typeof siteKinds)[number]

/** A running server or handler, whose router can be looked at. */
export interface Site {
  readonly runtime: Runtime
  /** `METHOD /path` of every route as the router has it, without the base path. */
  readonly routes: readonly string[]
  /** What a page of the same origin sends as `Origin`. */
  readonly origin: string
  readonly basePath: string
  /** Undefined where there is no socket. */
  readonly port: number | undefined
  ask(request: SiteRequest): Promise<Reply>
  close(): Promise<void>
}

export const tokens = {
  alice: 'alice-7d1f6f0c2b5e4a86-of-the-matrix',
  bob: 'bob-0b9c3d8e7f6a5142-of-the-matrix',
  carol: 'carol-5c4d3e2f1a0b9687-of-the-matrix',
}
export type Who = keyof typeof tokens

export function bearer(who: Who): { readonly authorization: string } {
  return { authorization: `Bearer ${tokens[who]}` }
}

const agents: Agents = { echo: echoAgent(), script: scriptAgent() }

export async function openSite(kind: SiteKind): Promise<Site> {
  const runtime = createRuntime({ store: 'memory:', agents })
  const basePath = kind === 'serve' ? '' : '/tools/holdfast'
  const options: HandlerOptions = { tokens, basePath }
  const routes = await routesOf(runtime, options)
  if (kind === 'createHandler under a base path') {
    const handle = createHandler(runtime, options)
    const origin = 'http://127.0.0.1:3000'
    return {
      ...{ runtime, routes, origin, basePath, port: undefined },
      ask: (asked) => askHandler(handle, `${origin}${basePath}`, asked),
      close: () => runtime.close({ drainMs: 0 }),
    }
  }
  const agent = new Agent({ keepAlive: true })
  const server = await serve(runtime, { ...options, port: 0, handlesSignals: false, shutdownMs: 0 })
  return {
    ...{ runtime, routes, origin: new URL(server.url).origin, basePath, port: server.port },
    ask: (asked) => askServer(server.url, agent, asked),
    close: () => {
      agent.destroy()
      return server.close()
    },
  }
}

/** Every route of the router that answers; what goes before all of them is none. */
async function routesOf(runtime: Runtime, options: HandlerOptions): Promise<string[]> {
  const app = createApp(await compose(runtime, options)())
  const { basePath = '' } = options
  return app.routes
    .filter(({ method }) => method !== 'ALL')
    .map(({ method, path }) => `${method} ${path.startsWith(basePath) ? path.slice(basePath.length) : path}`)
}

function askServer(url: string, agent: Agent, asked: SiteRequest): Promise<Reply> {
  const { method, path, headers, body } = asked
  return new Promise((resolve, reject) => {
    const json = body !== undefined && { 'content-type': 'application/json' }
    // A path as it stands: fetch would tidy it up.
    const { hostname, port, pathname } = new URL(url)
    const target = `${pathname === '/' ? '' : pathname}${path}`
    const sent = httpRequest({ hostname, port, method, path: target, headers: { ...json, ...headers }, agent })
    sent.on('response', (response: IncomingMessage) => {
      const { date: _date, ...shown } = response.headers
      const plain = Object.fromEntries(Object.entries(shown).map(([name, value]) => [name, String(value)]))
      read(response, plain['content-type'], asked)
        .then((text) => resolve({ status: response.statusCode ?? 0, headers: plain, text }))
        .catch(reject)
    })
    sent.on('error', reject)
    sent.end(body === undefined ? undefined : JSON.stringify(body))
  })
}

async function read(
  response: Readable,
  type: string | undefined,
  { until, onOpen }: Pick<SiteRequest, 'until' | 'onOpen'>,
): Promise<string> {
  let text = ''
  const isStream = isStreamed(type)
  if (isStream && until === undefined) {
    response.destroy()
    return ''
  }
  if (isStream) await onOpen?.()
  for await (const chunk of response) {
    text += (chunk as Buffer).toString()
    if (isStream && until !== undefined && text.includes(until)) break
  }
  response.destroy()
  return text
}

async function askHandler(
  handle: (request: Request) => Promise<Response>,
  url: string,
  asked: SiteRequest,
): Promise<Reply> {
  const { method, path, headers, body } = asked
  const json = body !== undefined && { 'content-type': 'application/json' }
  const response = await handle(
    new Request(`${url}${path}`, {
      method,
      headers: { ...json, ...headers },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    }),
  )
  const shown = Object.fromEntries(response.headers)
  const text = isStreamed(shown['content-type']) ? await readSome(response, asked) : await response.text()
  return { status: response.status, headers: shown, text }
}

async function readSome({ body }: Response, { until, onOpen }: SiteRequest): Promise<string> {
  let text = ''
  await onOpen?.()
  const reader = body?.pipeThrough(new TextDecoderStream()).getReader()
  while (until !== undefined && !text.includes(until)) {
    const { done, value } = (await reader?.read()) ?? { done: true }
    if (done) return text
    text += value
  }
  await reader?.cancel()
  return until === undefined ? '' : text
}

function isStreamed(type: string | undefined): boolean {
  return /event-stream|ndjson/.test(type ?? '')
}
