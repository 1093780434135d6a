import type { InboxItem } from '../../../core/inbox-item.ts'
import type { Task } from '../../../core/task.ts'
import type { AgentContext } from '../../agent.ts'
import { hearEnds, hearPeople } from './hearing.ts'
import type { DemoInput } from './input.ts'
import type { PartResult } from './part.ts'
import { speak } from './speech.ts'
import { opening, type PartName, partNames, partOf, question, report } from './story.ts'

export interface DemoResult {
  readonly topic: string
  readonly audience: string
  readonly answeredBy: string
  readonly findings: readonly PartResult[]
  /** What people wrote to it meanwhile. */
  readonly notes: readonly string[]
}

// Long enough for somebody who looks at it after a coffee; then the default answers.
const questionMs = 30 * 60_000

/**
 * The run itself: spawns a helper for each part, asks a person, talks and listens meanwhile, and puts together what came of it all.
 * Its branches never share the key of a step, so they find theirs again in whatever order they come.
 */
export async function leadResearch(ctx: AgentContext, input: DemoInput): Promise<DemoResult> {
  const { topic, pace } = input
  await ctx.think(`This has ${partNames.length} parts, which can be looked into side by side.`)
  await ctx.tool('plan', { topic }, () => ({ parts: partNames }))
  for (const part of partNames) await spawnPart(ctx, input, part)
  const notes: string[] = []
  const said = speak(ctx, opening(topic), pace)
  const [{ answer, by }, ends] = await Promise.all([
    ctx.ask({ ...question, timeoutMs: questionMs }),
    hearEnds(ctx, partNames.length, said, notes),
    said,
  ])
  const findings = ends.flatMap(found).toSorted((a, b) => partNames.indexOf(a.part) - partNames.indexOf(b.part))
  const audience = String(answer)
  const summaries = findings.map(({ summary }) => summary)
  await hearPeople(ctx, notes)
  await speak(ctx, report({ topic, audience, by, summaries, notes }), pace)
  await hearPeople(ctx, notes)
  return { topic, audience, answeredBy: by, findings, notes }
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

/** A helper may have been cancelled by itself; the report then goes without it. */
function found(end: InboxItem): PartResult[] {
  return end.kind === 'completed' ? [end.result as PartResult] : []
}
