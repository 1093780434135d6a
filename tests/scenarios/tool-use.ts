import type { AgentContext, Message, Runtime, ToolPlace } from '../../src/index.ts'
import { backgroundTasks } from '../../src/index.ts'

export const thread = 't'

type ToolName = 'spawn_task' | 'list_tasks' | 'wait_task' | 'cancel_task' | 'send_message'

/** Calls a background tool. */
export function use(runtime: Runtime, name: ToolName, input: unknown, place: ToolPlace = { thread }) {
  const tool = backgroundTasks(runtime).tools.find((candidate) => candidate.name === name)
  if (!tool) throw new Error(`There is no tool ${name}`)
  return tool.execute(input, place) as Promise<Record<string, unknown>>
}

/** Where a task calls tools. */
export function inside(ctx: AgentContext): ToolPlace {
  return { thread: ctx.thread, task: ctx.taskId, ctx }
}

/** Says what it was asked, waits for one message and says that as well. */
export async function helper(ctx: AgentContext, asked: string) {
  await ctx.say(`I was asked ${asked}. `)
  const item = await ctx.receive({ only: 'messages' })
  const content = item?.kind === 'custom' ? (item.payload as { content: string }).content : 'nothing'
  await ctx.say(`I was told ${content}.`)
  return { told: content, history: textsOf(await ctx.history()) }
}

function textsOf(messages: readonly Message[]): string[] {
  return messages.map(({ role, parts }) => {
    const texts = parts.map((part) => (part.type === 'text' ? part.text : JSON.stringify(part)))
    return `${role}: ${texts.join('')}`
  })
}
