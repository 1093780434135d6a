import { HoldfastError } from './core/errors.ts'
import type { Agents } from './runtime/agent.ts'
import { type OpenStore, Runtime, type RuntimeOptions } from './runtime/runtime.ts'
import { prometheusMetrics } from './server/prometheus.ts'
import type { Store } from './stores/store.ts'

/** Where the runtime keeps everything, and how it works. */
export interface CreateRuntimeOptions<Known extends Agents = Agents> extends RuntimeOptions {
  readonly agents?: Known
  /** `memory:`, `sqlite:PATH`, `postgres://…`, or a store. */
  readonly store?: string | Store
}

/**
 * A runtime on a store. The store is opened at once; calls wait for it, and reject with what is wrong with it. What is wrong
 * with the options is thrown. What it can be asked is typed by its agents; where their code uses the runtime itself, state its
 * type: `const runtime: Runtime = …`.
 */
export function createRuntime<Known extends Agents = Agents>(
  options: CreateRuntimeOptions<Known> = {},
): Runtime<Known> {
  const { store, metrics = prometheusMetrics(), ...rest } = options
  return Runtime.create(opening(store, rest.log), { ...rest, metrics })
}

/** How the store is opened. What can be said without opening it is said at once; that there is none, to whoever asks for it. */
function opening(store: string | Store | undefined, log: RuntimeOptions['log']): OpenStore {
  if (store === undefined) {
    const ways = "pass store: 'memory:', 'sqlite:PATH' or 'postgres://…' to createRuntime"
    return () => Promise.reject(new HoldfastError('no_store', `No store is configured; ${ways}`))
  }
  if (typeof store !== 'string') return () => Promise.resolve(store)
  if (store === 'memory:') return async () => (await import('./stores/memory/index.ts')).memoryStore()
  const path = /^sqlite:(.+)$/.exec(store)?.[1]
  if (path !== undefined) return async () => (await import('./stores/sqlite/index.ts')).sqliteStore({ path })
  if (/^postgres(ql)?:/.test(store)) return () => openPostgres(store, log)
  // What has an @ in it may hold a password.
  const shown = store.includes('@') ? `${store.split(':')[0]}:…` : store
  throw new HoldfastError('no_store', `${JSON.stringify(shown)} is no store; use memory:, sqlite:PATH or postgres://…`)
}

/** Its driver is there only where somebody wants it. */
async function openPostgres(url: string, log: RuntimeOptions['log']): Promise<Store> {
  const { postgresStore } = await import('./stores/postgres/index.ts').catch((error: unknown) => {
    if (!isMissingPackage(error, 'pg')) throw error
    const message = 'A store on PostgreSQL needs the package pg: install it with `npm install pg`'
    throw new HoldfastError('no_store', message, { cause: error })
  })
  return postgresStore({ url, ...(log && { warn: (text) => log.warn({}, text) }) })
}

function isMissingPackage(error: unknown, name: string): boolean {
  if (!(error instanceof Error) || !('code' in error)) return false
  return error.code === 'ERR_MODULE_NOT_FOUND' && error.message.includes(`'${name}'`)
}

export type { Config, LogLevel } from './config.ts'
export { type ErrorCode, HoldfastError, isHoldfastError, type TaskError, type TaskErrorCode } from './core/errors.ts'
export type { Event, EventData, EventType } from './core/event.ts'
export type { HookRecord } from './core/hook.ts'
export type { Principal, TaskId, ThreadId } from './core/id.ts'
export { createInbox, type Inbox, type InboxOptions } from './core/inbox.ts'
export type { InboxItem } from './core/inbox-item.ts'
export type { Limits } from './core/limits.ts'
export type { ParentContext } from './core/lineage.ts'
export type { Finish, Message, Part, Role } from './core/message.ts'
export { cancelled, failed } from './core/outcome.ts'
export type { OnBusy } from './core/prompt.ts'
export type { Question } from './core/question.ts'
export type { Result } from './core/result.ts'
export type { Retention } from './core/retention.ts'
export { isTerminal, type Status } from './core/status.ts'
export type { Asked, OnResult, Task, Usage } from './core/task.ts'
export type { ThreadSnapshot } from './core/thread-snapshot.ts'
export type {
  Agent,
  AgentContext,
  AgentFunction,
  Agents,
  Ask,
  QuestionAnswer,
  QuestionOptions,
  RunOptions,
  SpawnOptions,
} from './runtime/agent.ts'
export { demoAgent } from './runtime/agents/demo.ts'
export { echoAgent } from './runtime/agents/echo.ts'
export { type ScriptOptions, scriptAgent } from './runtime/agents/script.ts'
export { type BackgroundTasks, type BackgroundTasksOptions, backgroundTasks } from './runtime/background-tasks.ts'
export type { BackgroundTool, ToolPlace } from './runtime/background-tool.ts'
export type { CancelOptions } from './runtime/cancelling.ts'
export type { Clock } from './runtime/clock.ts'
export { type AgentCode, agent, type PlainAgent, type SchemaAgent } from './runtime/define-agent.ts'
export type { EndedCall, OnEnded } from './runtime/hooks.ts'
export type { AgentSummary, Readiness, RuntimeInfo } from './runtime/info.ts'
export type { AcceptedRun } from './runtime/intake.ts'
export type { SubscribeOptions } from './runtime/log-reads.ts'
export type { Logger } from './runtime/logger.ts'
export type { MessageToSend, SendAnswer } from './runtime/message-to-send.ts'
export type { MetricsPort } from './runtime/node-options.ts'
export {
  decodeTasks,
  encodeTasks,
  type PersistedTask,
  type PersistedTasks,
  persistTask,
  reduceTasks,
  type TaskSummary,
  type TasksChange,
} from './runtime/persisted-task.ts'
export type { ListOptions, TaskList } from './runtime/reads.ts'
export type { RestoreAnswer } from './runtime/restoration.ts'
export type { Pruned, PruneOptions } from './runtime/retention.ts'
export type { Runtime, RuntimeOptions } from './runtime/runtime.ts'
export type { StandardSchema } from './runtime/standard-schema.ts'
export { restoreTasks, snapshotTasks } from './runtime/task-snapshot.ts'
export { reduceView, type TaskLine, type TaskView, type ViewChange, viewText } from './runtime/task-view.ts'
export {
  createHandler,
  type Handler,
  type HandlerOptions,
  type ServeOptions,
  type Server,
  serve,
} from './server/index.ts'
export type { MessagePage, Store, ThreadPage, ThreadSummary } from './stores/store.ts'
export { type VerifyOptions, verifyWebhook } from './webhook/signature.ts'
export { type SignedWebhookOptions, signedWebhook } from './webhook/signed-webhook.ts'
