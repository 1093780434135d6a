import { type UIMessage, useChat } from '@ai-sdk/react'
import { createClient, type ThreadSnapshot } from 'holdfast/client'
import { type ChatMetadata, createChatTransport, toUIMessages, withStop } from 'holdfast/react'
import type { ReactElement } from 'react'

export const client = createClient({ url: location.origin })
const transport = createChatTransport({ client, agent: 'helper' })

export function Chat({ thread }: { readonly thread: ThreadSnapshot }): ReactElement {
  const initial = { id: thread.thread, messages: toUIMessages(thread) }
  const chat = useChat<UIMessage<ChatMetadata>>({ ...initial, transport, resume: true })
  const { messages, sendMessage, status, error, stop } = withStop(chat, transport)
  return (
    <main>
      {messages.map(({ id, role, parts, metadata }) => (
        <p key={id} className={role} data-finish={metadata?.finish}>
          {parts.map((part) => (part.type === 'text' ? part.text : '')).join('')}
        </p>
      ))}
      <output className={status}>{error?.message ?? status}</output>
      <button type="button" onClick={() => void sendMessage({ text: 'Hi' })}>
        Send
      </button>
      <button type="button" onClick={() => void stop()}>
        Stop
      </button>
    </main>
  )
}
