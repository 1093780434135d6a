import { isStatedEnding } from '../../core/outcome.ts'
import type { Agent, AgentContext } from '../agent.ts'
import { demoInput, demoSchema, readDemoInput } from './demo/input.ts'
import { leadResearch } from './demo/lead.ts'
import { researchPart } from './demo/part.ts'

/**
 * An agent to watch, cancel, kill and resume without any key: a simulated research run of about three minutes, with three
 * helpers that stream side by side, tools, one of which fails once, and a question to a person. Its input is a prompt, or
 * `{topic?, pace?}`.
 */
export function demoAgent(): Agent {
  return {
    run: demo,
    version: '2',
    description: 'A simulated research run: children, tools, a retry, a question, streaming text',
    input: demoInput,
    inputSchema: demoSchema,
  }
}

async function demo(ctx: AgentContext, input: unknown): Promise<unknown> {
  const asked = readDemoInput(ctx, input)
  if (isStatedEnding(asked)) return asked
  return asked.part === undefined ? leadResearch(ctx, asked) : researchPart(ctx, asked, asked.part)
}
