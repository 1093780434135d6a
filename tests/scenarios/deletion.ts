import { principal, type ThreadKey, threadId, threadKey } from '../../src/core/id.ts'
import type { AgentContext, Runtime } from '../../src/index.ts'
import { gate } from './world.ts'

export const thread = 't'

export const empty = { thread, watchers: 0, messages: [], tasks: [], live: [] }

/** Ignores its cancel until the test lets it go. */
export function deaf(): { run(ctx: AgentContext): Promise<unknown>; begun: Promise<void>; letGo(): void } {
  const [begun, end] = [gate(), gate()]
  const run = async (ctx: AgentContext) => {
    await ctx.say('heard nothing')
    begun.open()
    await end.opened
    await ctx.say('too late')
    return 'too late'
  }
  return { run, begun: begun.opened, letGo: end.open }
}

export async function withHistory(runtime: Runtime, prompt: string): Promise<string> {
  const { id } = await runtime.run({ thread, agent: 'echo', prompt, idempotencyKey: `key-${prompt}` })
  await runtime.wait(id)
  return id
}

export function keyOf(name: string): ThreadKey {
  return threadKey(principal('owner'), threadId(name))
}

export const echo = (ctx: AgentContext, prompt: string) => ctx.say(prompt)
