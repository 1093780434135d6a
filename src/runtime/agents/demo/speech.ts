import type { AgentContext } from '../../agent.ts'

// As fast as one reads aloud: three speak at once, and whoever watches has other things to do beside.
const wordsPerChunk = 2
const chunkMs = 800

/** Says a text a few words at a time, as a model would, one chunk after the other and a recorded pause between them. */
export async function speak(ctx: AgentContext, text: string, pace: number): Promise<void> {
  const words = text.match(/\S+\s*/g) ?? []
  for (let from = 0; from < words.length; from += wordsPerChunk) {
    await ctx.say(words.slice(from, from + wordsPerChunk).join(''))
    await pause(ctx, chunkMs, pace)
  }
}

export function pause(ctx: AgentContext, ms: number, pace: number): Promise<void> {
  return ctx.sleep(Math.round(ms / pace))
}
