import type { TaskId, ThreadId } from '../core/id.ts'
import type { AgentName, AnyAgents, Ask, InputOf, ResultOf, TaskOf } from '../core/known-agents.ts'
import type { Limits } from '../core/limits.ts'
import type { Message } from '../core/message.ts'
import type { Question } from '../core/question.ts'
import type { Result } from '../core/result.ts'
import type { ThreadSnapshot } from '../core/thread-snapshot.ts'
import type { CustomOf } from './agents.ts'
import type {
  Accepted,
  CallOptions,
  ListOptions,
  LogPageOptions,
  PageOptions,
  RunOptions,
  SpawnOptions,
} from './asks.ts'
import { bodyOf, type Http, segment } from './http.ts'
import type { ThreadEvent } from './thread-event.ts'

type Named<Agents extends AnyAgents, Name extends string> = Ask<InputOf<Agents[Name]>>

/** What can be asked of a server, each by one request. All of it rejects with a HoldfastError that has the server's code. */
export interface Calls<Agents extends AnyAgents> {
  /** Asks a thread's agent: accepts a run into the thread's queue. */
  run<Name extends AgentName<Agents>>(
    thread: string,
    options: RunOptions<Name> & Named<Agents, Name>,
  ): Promise<Accepted<ResultOf<Agents[Name]>>>
  /** Spawns a background task beside the queue. */
  spawn<Name extends AgentName<Agents>>(
    thread: string,
    options: SpawnOptions<Name> & Named<Agents, Name>,
  ): Promise<Accepted<ResultOf<Agents[Name]>>>
  get(task: string, options?: CallOptions): Promise<TaskOf>
  /** Newest first. */
  list(options?: ListOptions): Promise<{ readonly tasks: readonly TaskOf[]; readonly cursor?: string }>
  /** Cancels a task with its tree, or with `tree: false` alone. Answers with what had not ended. */
  cancel(
    task: string,
    options?: CallOptions & { readonly tree?: boolean; readonly reason?: string },
  ): Promise<readonly TaskId[]>
  /** To the inbox of a task; answers with the id of the message. */
  send(task: string, message: CallOptions & { readonly content: unknown; readonly from?: string }): Promise<string>

  threads(options?: PageOptions): Promise<{ readonly threads: readonly ThreadLine[]; readonly cursor?: string }>
  snapshot(thread: string, options?: CallOptions): Promise<ThreadSnapshot>
  /** Cancels everything in a thread and removes all of its content. */
  deleteThread(thread: string, options?: CallOptions): Promise<void>
  messages(
    thread: string,
    options?: CallOptions & { readonly after?: number; readonly limit?: number },
  ): Promise<{ readonly messages: readonly Message[]; readonly cursor?: number }>
  /** A page of the log; `next` is the `after` of the next one, and is `head` on the last. */
  events(
    thread: string,
    options?: LogPageOptions,
  ): Promise<{
    readonly events: readonly ThreadEvent<CustomOf<Agents>>[]
    readonly head: number
    readonly next: number
  }>
  /** Cancels the runs of a thread, or with `scope: 'all'` all of its tasks. Answers with what had not ended. */
  cancelThread(
    thread: string,
    options?: CallOptions & { readonly scope?: 'runs' | 'all'; readonly reason?: string },
  ): Promise<readonly TaskId[]>
  /** Results of background tasks that nobody has taken. Reading takes nothing. */
  results(
    thread: string,
    options?: CallOptions,
  ): Promise<{ readonly results: readonly Result[]; readonly running: number }>
  /** Takes results; answers with those that were there to be taken. */
  collect(thread: string, tasks: readonly string[], options?: CallOptions): Promise<readonly TaskId[]>

  /** Those that are open. */
  questions(options?: CallOptions & { readonly thread?: string }): Promise<readonly Question[]>
  answer(question: string, answer: unknown, options?: CallOptions): Promise<Question>

  /** Removes old events and old threads, as many as take a moment; while the answer has a `cursor`, ask again with it. */
  prune(options: PruneOptions): Promise<Pruned>

  agents(options?: CallOptions): Promise<readonly AgentLine[]>
  limits(options?: CallOptions): Promise<Limits>
  /** Logs a browser in by a token, or once by the code of a login link. Later requests are made without a token. */
  login(
    credential: CallOptions & ({ readonly token: string } | { readonly code: string }),
  ): Promise<{ readonly principal: string }>
  logout(options?: CallOptions): Promise<void>
  /** Resolves if the process answers. */
  health(options?: CallOptions): Promise<{ readonly status: 'ok' }>
  /** Resolves if new work is accepted. */
  ready(options?: CallOptions): Promise<Ready>
  /** Prometheus text. */
  metrics(options?: CallOptions): Promise<string>
  /** The OpenAPI document of the server. */
  openapi(options?: CallOptions): Promise<unknown>
}

/** A thread as lists show it: the numbers of its newest and of its oldest event. */
export interface ThreadLine {
  readonly thread: ThreadId
  readonly head: number
  readonly first: number
  readonly at: number
}

/** What to remove, by age or by count. */
export interface PruneOptions extends CallOptions {
  /** Events older than this go from the front of their thread's log. */
  readonly eventsMs?: number
  /** At most so many events of a thread are kept: its newest. */
  readonly eventsPerThread?: number
  /** A thread in which nothing has happened for this long goes as a whole. */
  readonly threadsMs?: number
  /** Only counts. */
  readonly dryRun?: boolean
  /** That of the last answer. */
  readonly cursor?: string
}

/** What was removed, or would be. */
export interface Pruned {
  /** Threads that went as a whole. */
  readonly threads: number
  readonly events: number
  /** Those of the threads that went. */
  readonly tasks: number
  /** Threads that could not be pruned now, if there were any. */
  readonly skipped?: number
  /** There is more to look at: ask again with it. */
  readonly cursor?: string
}

/** An agent of the server. */
export interface AgentLine {
  readonly name: string
  readonly description?: string
  readonly version?: string
  readonly inputSchema?: object
  /** How much of its code runs at once, over all nodes. Absent if there is no limit. */
  readonly concurrency?: number
}

/** That the server takes new work, and where it keeps it. */
export interface Ready {
  readonly status: 'ready'
  readonly store: string
  readonly durable: boolean
  readonly notice?: string
}

export function createCalls<Agents extends AnyAgents>(http: Http): Calls<Agents> {
  const read = <Body>(path: string, given: object = {}) => {
    const { signal, ...query } = given as CallOptions & Readonly<Record<string, string | number>>
    return http.json<Body>(path, { query, signal, isRepeatable: true })
  }
  const post = <Body>(path: string, given: object = {}) => {
    const { signal, ...body } = given as CallOptions
    return http.json<Body>(path, { method: 'POST', body, signal })
  }
  return {
    run: async (id, options) => accept(http, `${thread(id)}/runs`, options),
    spawn: async (id, options) => accept(http, `${thread(id)}/tasks`, options),
    get: async (id, options) => read(task(id), options),
    list: (options) => read('/v1/tasks', options),
    cancel: async (id, options) => (await post<{ cancelled: TaskId[] }>(`${task(id)}/cancel`, options)).cancelled,
    send: async (id, message) => (await post<{ id: string }>(`${task(id)}/messages`, message)).id,

    threads: (options) => read('/v1/threads', options),
    snapshot: async (id, options) => read(thread(id), options),
    deleteThread: async (id, options) => http.json(thread(id), { method: 'DELETE', isRepeatable: true, ...options }),
    messages: async (id, options) => read(`${thread(id)}/messages`, options),
    events: async (id, { types, ...options } = {}) =>
      read(`${thread(id)}/events`, { ...options, types: types?.join(',') }),
    cancelThread: async (id, options) =>
      (await post<{ cancelled: TaskId[] }>(`${thread(id)}/cancel`, options)).cancelled,
    results: async (id, options) => read(`${thread(id)}/results`, options),
    collect: async (id, tasks, options) =>
      (await post<{ collected: TaskId[] }>(`${thread(id)}/results/collect`, { ...options, tasks })).collected,

    questions: async (options) => (await read<{ questions: Question[] }>('/v1/questions', options)).questions,
    answer: async (id, answer, options) => post(`/v1/questions/${segment(id)}/answer`, { ...options, answer }),

    prune: (options) => post('/v1/prune', options),
    agents: async (options) => (await read<{ agents: AgentLine[] }>('/v1/agents', options)).agents,
    limits: (options) => read('/v1/limits', options),
    login: (credential) => post('/v1/login', credential),
    logout: (options) => post('/v1/logout', options),
    health: (options) => read('/healthz', options),
    ready: ({ signal } = {}) => http.json('/readyz', { signal }),
    metrics: async ({ signal } = {}) => (await http.text('/metrics', { signal, isRepeatable: true })).text,
    openapi: (options) => read('/openapi.json', options),
  }
}

function thread(id: string): string {
  return `/v1/threads/${segment(id)}`
}

function task(id: string): string {
  return `/v1/tasks/${segment(id)}`
}

/** Under a key, so that it can be asked again if the answer was lost: it is accepted once. */
async function accept<Work extends Accepted>(
  http: Http,
  path: string,
  options: RunOptions | SpawnOptions,
): Promise<Work> {
  const { signal, idempotencyKey = newKey(), traceparent, ...body } = options
  const headers = { 'idempotency-key': idempotencyKey, ...(traceparent !== undefined && { traceparent }) }
  const answer = await http.text(path, { method: 'POST', body, headers, signal, isRepeatable: true })
  const isReplayed = answer.headers.get('idempotency-replayed') === 'true'
  return { ...bodyOf<Work>(answer), ...(isReplayed && { isReplayed }) }
}

/** Unlike `randomUUID`, this is there on a page without https too. */
function newKey(): string {
  return crypto.getRandomValues(new BigUint64Array(2)).join('-')
}
