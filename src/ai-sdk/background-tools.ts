import { jsonSchema, type ToolSet, tool } from 'ai'
import type { AgentContext } from '../runtime/agent.ts'
import type { BackgroundTasks } from '../runtime/background-tasks.ts'
import { viewText } from '../runtime/task-view.ts'

/** The tools of the plugin as the SDK takes them, for one task. */
export function backgroundToolSet(ctx: AgentContext, { tools }: BackgroundTasks): ToolSet {
  const place = { thread: ctx.thread, task: ctx.taskId, ctx }
  return Object.fromEntries(
    tools.map(({ name, description, inputSchema, execute }) => [
      name,
      tool({ description, inputSchema: jsonSchema(inputSchema), execute: (input) => execute(input, place) }),
    ]),
  )
}

/** The thread's other tasks in a few lines, for the model; undefined if there are none. */
export async function tasksNote(ctx: AgentContext, plugin: BackgroundTasks): Promise<string | undefined> {
  const view = (await plugin.refresh({ thread: ctx.thread, ctx })).filter(({ id }) => id !== ctx.taskId)
  return view.length === 0 ? undefined : `Background tasks of this conversation:\n${viewText(view)}`
}
