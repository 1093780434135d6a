export type { EventFilter } from '../client/live/event-list.ts'
export type { LiveError } from '../client/live/live-error.ts'
export type { TaskFilter } from '../client/live/task-rows.ts'
export { type ChatTransport, createChatTransport, withStop } from './chat-transport.ts'
export { toUIMessages } from './chat-transport-messages.ts'
export type { ChatTransportOptions } from './chat-transport-runs.ts'
export type { ChatChunk, ChatMetadata, ChatUIMessage, ChatUIPart } from './chat-transport-shapes.ts'
export { HoldfastProvider, type HoldfastProviderProps, useClient } from './provider.ts'
export { type UseAgentsResult, useAgents } from './use-agents.ts'
export { type ConnectionStatus, useConnection } from './use-connection.ts'
export { type UseEventsResult, useEvents } from './use-events.ts'
export { type UseQuestionsResult, useQuestions } from './use-questions.ts'
export { type UseTaskOptions, type UseTaskResult, useTask } from './use-task.ts'
export { type UseTasksResult, useTasks } from './use-tasks.ts'
export {
  type SendOptions,
  type ThreadActions,
  type UseThreadOptions,
  type UseThreadResult,
  useThread,
} from './use-thread.ts'
export { type UseThreadsResult, useThreads } from './use-threads.ts'
