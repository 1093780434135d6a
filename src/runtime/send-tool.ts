import { isHoldfastError } from '../core/errors.ts'
import { isRun } from '../core/task.ts'
import {
  ancestors,
  type BackgroundTool,
  find,
  type KnownTask,
  noSuchTask,
  schema,
  spawnFrom,
  type ToolPlace,
  text,
} from './background-tool.ts'
import type { SendAnswer } from './message-to-send.ts'
import type { Runtime } from './runtime.ts'

/** `allowed` gives the agents that may be spawned. */
export function sendTool(runtime: Runtime, allowed: () => Promise<readonly string[]>): BackgroundTool {
  return {
    name: 'send_message',
    description:
      'Sends a message to a background task of this conversation, which reads it from its inbox: by id or name, or to ' +
      'your "parent". One that has ended is taken up again: a new task of the same agent and name, which knows what was said.',
    inputSchema: schema(
      {
        task: { type: 'string', description: 'The id of the task, or its name; "parent" for the one that spawned you' },
        content: { type: 'string', description: 'The message' },
      },
      ['task', 'content'],
    ),
    async execute(input, place) {
      const content = text(input, 'content')
      const target = await find(runtime, place, text(input, 'task'))
      if (!target) return { isSent: false, ...noSuchTask(text(input, 'task')) }
      const answer = await send(runtime, place, target, content)
      const hasEnded = !answer.isSent && answer.reason === 'task_terminated'
      const isKnown = hasEnded && target.agent !== undefined && (await allowed()).includes(target.agent)
      if (isKnown && (await isContinuable(runtime, place, target))) return goOn(runtime, place, target, content)
      return { task: target.id, ...answer }
    },
  }
}

function send(runtime: Runtime, place: ToolPlace, { id }: KnownTask, content: string): Promise<SendAnswer> {
  const message = { content, ...(place.task !== undefined && { from: place.task }) }
  return place.ctx ? place.ctx.send(id, message) : runtime.send(id, message, { thread: place.thread })
}

/** A sub-agent, which anybody can run again. Not one that has spawned the caller: that is no sub-agent of it. */
async function isContinuable(runtime: Runtime, { task }: ToolPlace, target: KnownTask): Promise<boolean> {
  if (isRun(target) || target.type !== 'agent') return false
  const own = task === undefined ? undefined : await runtime.get(task)
  if (own?.id === target.id) return false
  for await (const { id } of ancestors(runtime, own)) if (id === target.id) return false
  return true
}

/** The ended task stays as it is; the new one names it, and `ctx.history()` tells it what was said before. */
async function goOn(runtime: Runtime, place: ToolPlace, target: KnownTask, content: string): Promise<object> {
  const { id, agent, name, description, metadata } = target
  const options = {
    prompt: content,
    ...(agent !== undefined && { agent }),
    ...(name !== undefined && { name }),
    description,
    metadata: { ...(metadata as object | undefined), continues: id },
    detached: true,
  }
  try {
    const task = await spawnFrom(runtime, place, options)
    return { task: task.id, ...(name !== undefined && { name }), isSent: true, continues: id }
  } catch (error) {
    if (!isHoldfastError(error)) throw error
    return { task: id, isSent: false, reason: error.code, detail: error.message }
  }
}
