import type { AgentContext, Result, Runtime, Task } from '../../src/index.ts'
import type { HeldAgent } from './held-agent.ts'
import { eventsUntil } from './world.ts'

export const thread = 't'

/** Spawns the tasks that its prompt names, detached, and ends. Woken, it answers with what woke it. */
export async function lead(ctx: AgentContext, asked: string | readonly Result[]): Promise<unknown> {
  if (typeof asked !== 'string') return ctx.answer(asked)
  for (const prompt of asked.split(' ')) await ctx.spawn({ agent: 'held', prompt, detached: true })
  return 'spawned'
}

/** Asks for a run that wants to be woken. */
export function ask(runtime: Runtime, prompt: string, options: { agent?: string; onResult?: 'collect' | 'wake' } = {}) {
  return runtime.run({ thread, agent: 'lead', prompt, onResult: 'wake', ...options })
}

export async function idOf(runtime: Runtime, prompt: string): Promise<string> {
  const found = (await runtime.list({ thread })).tasks.find((task) => task.input === prompt)
  if (!found) throw new Error(`There is a task ${prompt}`)
  return found.id
}

/** The runs that results woke, oldest first. */
export async function wakesOf(runtime: Runtime): Promise<Task[]> {
  const { tasks } = await runtime.list({ thread, type: 'run' })
  return tasks.filter((task) => task.metadata !== undefined).toReversed()
}

/** The end of the run that the n-th wake starts. */
export async function woken(runtime: Runtime, nth = 1): Promise<Task> {
  let count = 0
  const accepted = await eventsUntil(runtime, { thread }, (event) => {
    if (event.type === 'task.accepted' && event.data.task.metadata !== undefined) count += 1
    return count === nth
  })
  const ended = await runtime.wait(accepted.at(-1)?.task ?? '')
  if (!ended) throw new Error('A woken run is there')
  return ended
}

/** Lets the task of this prompt end, and answers with its id. */
export async function ended(runtime: Runtime, held: HeldAgent, prompt: string): Promise<string> {
  const id = await idOf(runtime, prompt)
  held.release(prompt)
  await runtime.wait(id)
  return id
}
