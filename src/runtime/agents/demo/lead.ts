import type { Result } from '../../../core/result.ts'
import type { Task } from '../../../core/task.ts'
import type { AgentContext } from '../../agent.ts'
import type { DemoInput } from './input.ts'
import type { PartResult } from './part.ts'
import { speak } from './speech.ts'
import { opening, type PartName, partNames, partOf, question, report } from './story.ts'

export interface DemoResult {
  readonly topic: string
  readonly audience: string
  readonly answeredBy: string
  readonly findings: readonly PartResult[]
}

// Long enough for somebody who looks at it after a coffee; then the default answers.
const questionMs = 30 * 60_000
// How much of the whole the helpers are; the rest is the report.
const waitingShare = 0.8

/**
 * The run itself: spawns a helper for each part, asks a person and talks meanwhile, and puts together what came of it all.
 * Its branches never share the key of a step, so they find theirs again in whatever order they come.
 */
export async function leadResearch(ctx: AgentContext, input: DemoInput): Promise<DemoResult> {
  const { topic, pace } = input
  await ctx.think(`This has ${partNames.length} parts, which can be looked into side by side.`)
  await ctx.tool('plan', { topic }, () => ({ parts: partNames }))
  const children: Task[] = []
  for (const part of partNames) children.push(await spawnPart(ctx, input, part))
  const [{ answer, by }, results] = await Promise.all([
    ctx.ask({ ...question, timeoutMs: questionMs }),
    resultsOf(ctx, children),
    speak(ctx, opening(topic), pace),
  ])
  const findings = results.flatMap(found)
  const audience = String(answer)
  const summaries = findings.map(({ summary }) => summary)
  await speak(ctx, report(topic, audience, by, summaries), pace)
  return { topic, audience, answeredBy: by, findings }
}

/** Names are unique among the live tasks of a thread, and helpers of an earlier run may still be ending. */
function spawnPart(ctx: AgentContext, { topic, pace }: DemoInput, part: PartName): Promise<Task> {
  return ctx.spawn({
    agent: ctx.agent ?? 'demo',
    name: `${part}-${ctx.taskId.replace(/^bg_/, '').slice(0, 32)}`,
    description: partOf(part, topic).description,
    input: { topic, pace, part },
  })
}

/** One after the other, so that the progress is told in the same order when the record answers. */
async function resultsOf(ctx: AgentContext, children: readonly Task[]): Promise<Result[]> {
  const results: Result[] = []
  for (const child of children) {
    results.push(await ctx.wait(child.id))
    const share = (waitingShare * results.length) / children.length
    await ctx.progress(share, `${results.length} of ${children.length} helpers are done`)
  }
  return results
}

/** A helper may have been cancelled by itself; the report then goes without it. */
function found({ status, answer }: Result): PartResult[] {
  return status === 'completed' ? [answer as PartResult] : []
}
