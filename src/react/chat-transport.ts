import { ChatRuns, type ChatTransportOptions } from './chat-transport-runs.ts'
import type { ChatChunk, ChatReconnectRequest, ChatSendRequest } from './chat-transport-shapes.ts'

/**
 * A `ChatTransport` of the AI SDK whose answers are runs. Whatever `useChat` aborts is only detached from, because it aborts
 * alike when a person stops an answer and when a component goes away; what stops a run is `stop`.
 */
export interface ChatTransport {
  readonly resumeStreamIsReplay: true
  sendMessages(request: ChatSendRequest): Promise<ReadableStream<ChatChunk>>
  reconnectToStream(request: ChatReconnectRequest): Promise<ReadableStream<ChatChunk> | null>
  /** Cancels the chat's runs on the server. The stream then ends with what was said until then. */
  stop(chatId: string): Promise<void>
  /** Lets go of the connection, if the transport made it. No run notices. */
  close(): void
}

/** Create it once, outside of the component that uses it. */
export function createChatTransport(options: ChatTransportOptions): ChatTransport {
  const runs = new ChatRuns(options)
  return {
    resumeStreamIsReplay: true,
    sendMessages: (request) => runs.send(request),
    reconnectToStream: (request) => runs.reconnect(request),
    stop: (chatId) => runs.stop(chatId),
    close: () => runs.close(),
  }
}

/**
 * What `useChat` gives, with a `stop` that cancels the run on the server. The hook's own, which it also calls when its
 * component goes away, only detaches.
 */
export function withStop<Chat extends { readonly id: string; readonly stop: () => Promise<void> }>(
  chat: Chat,
  transport: Pick<ChatTransport, 'stop'>,
): Chat {
  return { ...chat, stop: () => transport.stop(chat.id) }
}
