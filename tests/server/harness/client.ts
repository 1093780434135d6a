import type { Event } from '../../../src/core/event.ts'
import type { Task } from '../../../src/core/task.ts'
import { type Problem, Refused } from './refused.ts'
import type { Answer, TestServer } from './server.ts'
import { Socket } from './socket.ts'
import type { Watcher } from './tape.ts'
import { type WatchOptions, watchSse } from './watch-sse.ts'
import { watchWs } from './watch-ws.ts'

export type Transport = 'sse' | 'ws'
export const transports: readonly Transport[] = ['sse', 'ws']

/** What a client can do on every transport: HTTP with SSE, or a WebSocket. Each call rejects with what is refused. */
export interface Client {
  run(thread: string, body: Record<string, unknown>): Promise<Task>
  cancel(thread: string, options?: { readonly task?: string; readonly scope?: string }): Promise<readonly string[]>
  send(thread: string, task: string, content: unknown): Promise<string>
  watch(options: Omit<WatchOptions, 'as'>): Promise<Watcher>
  /** Answered whatever else this client waits for; the server has had its turn with that by then. */
  ping(): Promise<void>
  /** Leaves in the middle of whatever is going on. */
  drop(): void
}

export function connect(transport: Transport, server: TestServer, as = 'alice'): Promise<Client> {
  return transport === 'ws' ? connectWs(server, as) : Promise.resolve(httpClient(server, as))
}

export function watch(transport: Transport, server: TestServer, options: WatchOptions): Promise<Watcher> {
  return transport === 'ws' ? watchWs(server, options) : watchSse(server, options)
}

/** Whether this is the ending of a task. */
export function isEndOf(task: string): (event: Event) => boolean {
  return (event) => event.task === task && /^task\.(completed|failed|cancelled)$/.test(event.type)
}

/** The body of an answer that has to be of this status. */
export async function expectStatus<Body>(status: number, answer: Promise<Answer<Body>>): Promise<Body> {
  const given = await answer
  if (given.status === status) return given.body
  if (given.status >= 400 && given.body) throw new Refused(given.body as unknown as Problem)
  throw new Error(`${status} was expected, and the answer is ${given.status}: ${given.text}`)
}

function httpClient(server: TestServer, as: string): Client {
  const post = <Body>(status: number, path: string, body: unknown) =>
    expectStatus(status, server.request<Body>('POST', path, { body, as }))
  const watchers: Watcher[] = []
  return {
    run: (thread, body) => post<Task>(202, `/v1/threads/${thread}/runs`, body),
    cancel: async (thread, { task, scope } = {}) => {
      const path = task === undefined ? `/v1/threads/${thread}/cancel` : `/v1/tasks/${task}/cancel`
      const body = scope === undefined ? {} : { scope }
      return (await post<{ cancelled: string[] }>(200, path, body)).cancelled
    },
    send: async (_thread, task, content) =>
      (await post<{ id: string }>(202, `/v1/tasks/${task}/messages`, { content })).id,
    watch: async (options) => {
      const watcher = await watchSse(server, { ...options, as })
      watchers.push(watcher)
      return watcher
    },
    ping: async () => {
      await expectStatus(200, server.request('GET', '/v1/threads/never-used', { as }))
    },
    drop: () => {
      for (const watcher of watchers.splice(0)) watcher.close()
    },
  }
}

async function connectWs(server: TestServer, as: string): Promise<Client> {
  const socket = await Socket.open(server, as)
  const watchers: Watcher[] = []
  return {
    run: async (thread, body) => (await socket.ask({ type: 'run', thread, ...body }))['task'] as Task,
    cancel: async (thread, options = {}) =>
      (await socket.ask({ type: 'cancel', thread, ...options }))['cancelled'] as string[],
    send: async (thread, task, content) =>
      (await socket.ask({ type: 'send', thread, task, content }))['messageId'] as string,
    watch: async (options) => {
      const watcher = await watchWs(server, { ...options, as })
      watchers.push(watcher)
      return watcher
    },
    ping: async () => {
      // A socket answers in the order it was asked, so another one tells while this one waits.
      const other = await Socket.open(server, as)
      await other.ask({ type: 'ping' })
      other.drop()
    },
    drop: () => {
      socket.drop()
      for (const watcher of watchers.splice(0)) watcher.close()
    },
  }
}
