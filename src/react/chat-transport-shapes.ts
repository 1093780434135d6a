/**
 * The shapes of the AI SDK's chat that a transport reads and writes, as far as it does. They are written down here so that
 * nothing of Holdfast needs that package; a test holds them against its types.
 */

/** A message of a chat. Of its parts those are understood that a person can send. */
export interface ChatMessage {
  readonly id: string
  readonly role: 'system' | 'user' | 'assistant'
  readonly metadata?: unknown
  readonly parts: readonly { readonly type: string }[]
}

interface ChatRequest {
  readonly chatId: string
  readonly headers?: Record<string, string> | Headers | undefined
  readonly body?: object | undefined
  readonly metadata?: unknown
}

export interface ChatSendRequest extends ChatRequest {
  readonly trigger: 'submit-message' | 'regenerate-message'
  readonly messageId: string | undefined
  readonly messages: readonly ChatMessage[]
  readonly abortSignal: AbortSignal | undefined
}

export interface ChatReconnectRequest extends ChatRequest {
  readonly abortSignal?: AbortSignal | undefined
}

/** What is known of an assistant's message beside its parts. */
export interface ChatMetadata {
  /** The run that wrote it. */
  task?: string
  /** How it ended; absent while it is being written. */
  finish?: 'end_turn' | 'cancelled' | 'error' | 'timeout'
}

/** What a stream of a chat is made of. */
export type ChatChunk =
  | { type: 'start'; messageId: string; messageMetadata: ChatMetadata }
  | { type: 'start-step' | 'reset-step' | 'finish-step' }
  | { type: 'text-start' | 'text-end' | 'reasoning-start' | 'reasoning-end'; id: string }
  | { type: 'text-delta' | 'reasoning-delta'; id: string; delta: string }
  | { type: 'tool-input-available'; toolCallId: string; toolName: string; input: unknown; providerExecuted: true }
  | { type: 'tool-output-available'; toolCallId: string; output: unknown; providerExecuted: true }
  | { type: 'tool-output-error'; toolCallId: string; errorText: string; providerExecuted: true }
  | { type: 'file'; url: string; mediaType: string; providerMetadata?: FileMetadata }
  | { type: `data-${string}`; id?: string; data: unknown; transient?: true }
  | { type: 'message-metadata'; messageMetadata: ChatMetadata }
  | { type: 'finish'; finishReason?: 'stop' | 'interrupted'; messageMetadata?: ChatMetadata }
  | { type: 'abort'; reason: string }
  | { type: 'error'; errorText: string }

/** A chunk of a file has no place for its name. */
interface FileMetadata extends Record<string, { name: string }> {
  holdfast: { name: string }
}

interface ToolCall {
  type: `tool-${string}`
  toolCallId: string
  input: unknown
  providerExecuted: true
}

/** A part of a message as the chat shows it. */
export type ChatUIPart =
  | { type: 'step-start' }
  | { type: 'text'; text: string; state: 'streaming' | 'done' }
  | { type: 'reasoning'; text: string; state: 'streaming' | 'done' }
  | (ToolCall & { state: 'input-available' })
  | (ToolCall & { state: 'output-available'; output: unknown })
  | (ToolCall & { state: 'output-error'; errorText: string })
  | { type: 'file'; mediaType: string; url: string; filename?: string }
  | { type: `data-${string}`; id: string; data: unknown }

/** A message as the chat shows it, to begin with. */
export interface ChatUIMessage {
  id: string
  role: 'system' | 'user' | 'assistant'
  metadata: ChatMetadata
  parts: ChatUIPart[]
}
