export { type ErrorCode, HoldfastError, isHoldfastError, type TaskError, type TaskErrorCode } from '../core/errors.ts'
export type { TaskId, ThreadId } from '../core/id.ts'
export type { AgentName, AnyAgents, Ask, InputOf, ResultOf, TaskOf } from '../core/known-agents.ts'
export type { Limits } from '../core/limits.ts'
export type { Finish, Message, Part, Role } from '../core/message.ts'
export type { OnBusy } from '../core/prompt.ts'
export type { Question } from '../core/question.ts'
export type { Result } from '../core/result.ts'
export { isTerminal, type Status } from '../core/status.ts'
export type { OnResult, Task, Usage } from '../core/task.ts'
export type { ThreadSnapshot } from '../core/thread-snapshot.ts'
export type { CustomOf } from './agents.ts'
export type {
  Accepted,
  AttachOptions,
  CallOptions,
  ClientNotice,
  EndedTask,
  FirehoseOptions,
  ListOptions,
  LogPageOptions,
  PageOptions,
  RunOptions,
  SpawnOptions,
} from './asks.ts'
export type { AgentLine, Calls, Pruned, PruneOptions, Ready, ThreadLine } from './calls.ts'
export { type Client, createClient, type ThreadHandle } from './client.ts'
export type { ClientClock } from './clock.ts'
export type { Connection, ConnectionState } from './connection.ts'
export type { SocketConstructor, SocketLike } from './socket-source.ts'
export type {
  AttachItem,
  CustomEvent,
  FirehoseItem,
  NoticeItem,
  QuestionEvent,
  SnapshotItem,
  ThreadEvent,
} from './thread-event.ts'
export { createThreadView, reduceView, type ThreadView, type ViewChange } from './thread-view.ts'
export type { ClientOptions } from './transport.ts'
