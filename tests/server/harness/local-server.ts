import { connect, type Socket } from 'node:net'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { createParser } from 'eventsource-parser'
import { onTestFinished } from 'vitest'
import {
  type Agents,
  createRuntime,
  isHoldfastError,
  type Runtime,
  type RuntimeOptions,
  type ServeOptions,
  type Server,
  scriptAgent,
  serve,
} from '../../../src/index.ts'

export const authorization = { authorization: 'Bearer secret' }

/** A server in this process, on a store in memory. */
export interface LocalServer {
  readonly runtime: Runtime
  readonly server: Server
  /** Asks as `owner`. */
  get(path: string, headers?: Record<string, string>, init?: RequestInit): Promise<Response>
  /** Accepts a run, and answers with its id. */
  run(thread: string, script: readonly object[]): Promise<string>
  /** Sends text as it is, on a connection of its own. */
  raw(text: string): Raw
}

/** A connection on which bytes are sent and received as they are. */
export interface Raw {
  readonly socket: Socket
  readonly text: string
  /** Resolves when this is in what was received. */
  until(text: string): Promise<void>
  readonly closed: Promise<void>
}

export async function localServer(
  options: ServeOptions & Pick<RuntimeOptions, 'limits'> & { readonly agents?: Agents } = {},
): Promise<LocalServer> {
  const { agents, limits, ...rest } = options
  const runtime = createRuntime({
    store: 'memory:',
    agents: { script: scriptAgent(), ...agents },
    ...(limits && { limits }),
  })
  const tokens = { owner: 'secret' }
  const server = await onceFree(() =>
    serve(runtime, { port: 0, tokens, handlesSignals: false, shutdownMs: 1000, ...rest }),
  )
  onTestFinished(() => server.close())
  return {
    runtime,
    server,
    get: (path, headers, init) => fetch(`${server.url}${path}`, { ...init, headers: { ...authorization, ...headers } }),
    async run(thread, script) {
      const { id } = await runtime.run({ thread, agent: 'script', input: { script } })
      return id
    },
    raw: (text) => raw(server.port, text),
  }
}

export function getRequest(path: string, headers: Record<string, string> = {}): string {
  const all = { host: '127.0.0.1', ...authorization, ...headers }
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`)
  return `GET ${path} HTTP/1.1\r\n${lines.join('')}\r\n`
}

export const streamRequest = (path: string): string => getRequest(path, { accept: 'text/event-stream' })

/** The ids of the frames, and whether all are whole. */
export function idsOf(text: string): number[] {
  const ids: number[] = []
  const parser = createParser({ onEvent: ({ id }) => void ids.push(Number(id)) })
  parser.feed(text)
  return ids
}

/** Looks again after every turn of the event loop. */
export async function until(isSo: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await isSo())) await nextTurn()
}

/** The port of a server that was closed may be somebody else's for a moment. */
async function onceFree(start: () => Promise<Server>): Promise<Server> {
  for (;;) {
    try {
      return await start()
    } catch (error) {
      if (!(isHoldfastError(error) && error.code === 'cannot_listen')) throw error
      await nextTurn()
    }
  }
}

function raw(port: number, request: string): Raw {
  const socket = connect(port, '127.0.0.1', () => socket.write(request))
  let received = ''
  const waiting = new Set<() => void>()
  const tell = (): void => {
    for (const wake of waiting) wake()
  }
  socket.setEncoding('latin1')
  socket.on('data', (text: string) => {
    received += text
    tell()
  })
  socket.on('error', () => {})
  const closed = new Promise<void>((resolve) => {
    socket.on('close', () => {
      resolve()
      tell()
    })
  })
  onTestFinished(() => void socket.destroy())
  return {
    socket,
    closed,
    get text() {
      return received
    },
    async until(text) {
      while (!received.includes(text)) {
        if (socket.destroyed) throw new Error(`The connection closed before ${JSON.stringify(text)} came:\n${received}`)
        await new Promise<void>((resolve) => {
          waiting.add(resolve)
        })
      }
    },
  }
}
