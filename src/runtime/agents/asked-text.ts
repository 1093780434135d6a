import type { Part } from '../../core/message.ts'
import type { AgentContext } from '../agent.ts'

/** The words a task was started with: its prompt, or the text of its parts. Undefined if it was given no words. */
export function askedText(ctx: AgentContext, input: unknown): string | undefined {
  if (ctx.asked === 'prompt') return input as string
  if (ctx.asked !== 'parts') return undefined
  return (input as readonly Part[]).map((part) => (part.type === 'text' ? part.text : '')).join('')
}
