import type { Agent, AgentContext } from '../agent.ts'
import { askedText } from './asked-text.ts'

/** An agent that says what it was given back, and returns it: a prompt or parts as text, any other input as it is. */
export function echoAgent(): Agent {
  return { run: echo, description: 'Says what it was given back', inputSchema: { description: 'Anything' } }
}

async function echo(ctx: AgentContext, input: unknown): Promise<unknown> {
  if (input === undefined) return undefined
  const text = askedText(ctx, input)
  await ctx.say(text ?? JSON.stringify(input))
  return text ?? input
}
