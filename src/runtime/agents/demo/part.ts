import type { AgentContext } from '../../agent.ts'
import type { DemoInput } from './input.ts'
import type { Part } from './parts.ts'
import { pause, speak } from './speech.ts'
import { type PartName, partOf } from './story.ts'

export interface PartResult {
  readonly part: PartName
  readonly summary: string
}

type Finding = Part['findings'][number]

const triesMax = 3
const retryMs = 2_000

/** The work of one helper: looks things up, and tells what it found. */
export async function researchPart(ctx: AgentContext, input: DemoInput, name: PartName): Promise<PartResult> {
  const { thought, findings, summary } = partOf(name, input.topic)
  await ctx.think(thought)
  for (const [index, finding] of findings.entries()) {
    await lookUp(ctx, finding, input.pace)
    await speak(ctx, finding.text, input.pace)
    await ctx.progress((index + 1) / findings.length)
  }
  return { part: name, summary }
}

/** A failed call is recorded like any other, so a resumed task neither makes it again nor forgets that it failed. */
async function lookUp(ctx: AgentContext, finding: Finding, pace: number): Promise<void> {
  for (let tryNumber = 1; ; tryNumber += 1) {
    try {
      await callTool(ctx, finding, tryNumber, pace)
      return
    } catch (error) {
      if (ctx.signal.aborted || tryNumber === triesMax) throw error
      await ctx.think(`${error instanceof Error ? error.message : String(error)}. I try again.`)
      await pause(ctx, retryMs, pace)
    }
  }
}

async function callTool(ctx: AgentContext, finding: Finding, tryNumber: number, pace: number): Promise<void> {
  const { tool, input, output, tookMs, failsOnceWith } = finding
  await ctx.tool(tool, input, async () => {
    await pause(ctx, tookMs, pace)
    if (tryNumber === 1 && failsOnceWith !== undefined) throw new Error(failsOnceWith)
    return output
  })
}
