import type { ModelMessage } from 'ai'
import type { InboxItem } from '../core/inbox-item.ts'
import type { AgentContext } from '../runtime/agent.ts'
import { asParts, jsonText, userContent } from './user-content.ts'

/**
 * What has arrived in the task's inbox since it was last read, as messages for the model: steering, messages of other tasks,
 * and the ends of tasks that it spawned.
 */
export async function readInbox(ctx: AgentContext): Promise<ModelMessage[]> {
  const messages: ModelMessage[] = []
  for (;;) {
    const item = await ctx.receive({ timeoutMs: 0 })
    if (!item) return messages
    const content = contentOf(item)
    if (content.length > 0) messages.push({ role: 'user', content })
  }
}

function contentOf(item: InboxItem): Extract<ModelMessage, { role: 'user' }>['content'] {
  if (item.kind === 'completed') return `The background task ${item.taskId} has completed: ${jsonText(item.result)}`
  if (item.kind !== 'custom') {
    const ended = item.kind === 'failed' ? 'has failed' : 'was cancelled'
    return `The background task ${item.taskId} ${ended}: ${item.error.message}`
  }
  const { from, content } = messageOf(item.payload)
  if (from === undefined) return userContent(asParts(content))
  return `Message from ${from}: ${typeof content === 'string' ? content : jsonText(content)}`
}

function messageOf(payload: unknown): { readonly from?: string; readonly content?: unknown } {
  return typeof payload === 'object' && payload !== null ? payload : { content: payload }
}
