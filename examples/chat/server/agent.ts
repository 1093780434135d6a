// An agent that needs no key: it thinks, looks something up, asks before it does what cannot be undone, and talks slowly enough
// to be stopped, steered or reloaded in the middle. With a model it is one line, and everything else stays:
//
//   import { openai } from '@ai-sdk/openai'
//   import { ToolLoopAgent } from 'ai'
//   import { aiSdkAgent } from 'holdfast/ai-sdk'
//
//   export const helper = aiSdkAgent(new ToolLoopAgent({ model: openai('gpt-5-mini'), instructions: 'Be brief.' }))
import { setTimeout as pause } from 'node:timers/promises'
import type { AgentContext } from 'holdfast'

const { WORD_MS = '70' } = process.env

export async function helper(ctx: AgentContext, prompt: string): Promise<void> {
  await ctx.think(`Somebody wants to know about “${prompt}”. I look it up first.`)
  const { count } = await ctx.tool('look_up', { about: prompt }, () => ({ count: 3 + (prompt.length % 7) }))

  if (/\b(buy|book|order|send|delete)\b/i.test(prompt)) {
    // The run waits here, for days if need be, and over restarts. Whoever has the thread open can answer.
    const { answer } = await ctx.ask({ text: 'This cannot be undone. Shall I go on?', options: ['Go on', 'Leave it'] })
    if (answer !== 'Go on') return ctx.say('Then I leave it.')
  }

  let topic = prompt
  for (let place = 1; place <= count; place += 1) {
    topic = (await steering(ctx)) ?? topic
    // A step is done once: after a crash the finished sentences are there, and the broken one begins again.
    await ctx.step(`sentence ${place}`, () => talk(ctx, sentence(place, count, topic)), { input: topic })
  }
}

/** What somebody told the run while it was at work. */
async function steering(ctx: AgentContext): Promise<string | undefined> {
  const item = await ctx.receive({ timeoutMs: 0, only: 'messages' })
  if (item?.kind !== 'custom') return undefined
  const { content } = item.payload as { content: unknown }
  return typeof content === 'string' ? content : JSON.stringify(content)
}

async function talk(ctx: AgentContext, text: string): Promise<void> {
  for (const word of text.split(/(?<= )/)) {
    await ctx.say(word)
    await pause(Number(WORD_MS), undefined, { signal: ctx.signal })
  }
}

function sentence(place: number, count: number, topic: string): string {
  if (place === 1) return `There are ${count} things to say about “${topic}”. `
  if (place === count) return `And that is all that I know about “${topic}”.`
  return `Number ${place}: all of this goes on while you reload the page, close it, or lose the network. `
}
