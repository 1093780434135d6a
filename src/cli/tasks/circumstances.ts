import { type Client, isHoldfastError, type LogPageOptions, type Task, type ThreadEvent } from '../../client/index.ts'
import { namedTask } from '../naming.ts'
import { allTasks } from './whole-list.ts'
import type { Circumstances } from './why.ts'

// Enough to see what a task is at; the rest is what `logs` is for.
const eventsMax = 200

/** Asks the server for a task and for all that may hold it up. */
export async function circumstancesOf(
  client: Client,
  id: string,
  now: () => number,
  signal: AbortSignal,
): Promise<Circumstances> {
  const task = await namedTask(client, id, signal)
  const [runs, questions, children, agents, notReady, events] = await Promise.all([
    runsOf(client, task, signal),
    client.questions({ thread: task.thread, signal }),
    allTasks(client, { parent: task.id, signal }),
    client.agents({ signal }),
    notReadyOf(client, signal),
    lastEvents(client, task, signal),
  ])
  const node = task.status === 'running' ? await nodeOf(client, task, events, signal) : undefined
  return {
    task,
    now: now(),
    runs,
    questions,
    children,
    agents,
    ...(notReady && { notReady }),
    events,
    ...(node !== undefined && { node }),
  }
}

/** Only a run that has not started has others before it. */
async function runsOf(client: Client, { thread, type, status }: Task, signal: AbortSignal): Promise<readonly Task[]> {
  if (type !== 'run' || status !== 'pending') return []
  return allTasks(client, { thread, type, status: ['pending', 'running'], signal })
}

async function notReadyOf(client: Client, signal: AbortSignal): Promise<Circumstances['notReady']> {
  try {
    await client.ready({ signal })
    return undefined
  } catch (error) {
    if (isHoldfastError(error, 'draining')) return 'draining'
    if (isHoldfastError(error, 'store_unavailable')) return 'store_unavailable'
    throw error
  }
}

/** Which node began its last attempt. A task may have said much since. */
async function nodeOf(
  client: Client,
  task: Task,
  last: readonly ThreadEvent[],
  signal: AbortSignal,
): Promise<string | undefined> {
  const types = ['task.started', 'task.resumed']
  const begun = last.findLast(({ type }) => types.includes(type))
  const [event] = begun ? [begun] : (await eventsOf(client, task, { after: 0, types, signal })).slice(-1)
  if (event?.type !== 'task.started' && event?.type !== 'task.resumed') return undefined
  return event.data.attempt === task.attempt ? event.data.node : undefined
}

/** The last of the log that are this task's. */
function lastEvents(client: Client, task: Task, signal: AbortSignal): Promise<readonly ThreadEvent[]> {
  return eventsOf(client, task, { after: Math.max(0, task.seq - eventsMax), signal })
}

/** Of what was deleted there is nothing to say. */
async function eventsOf(client: Client, task: Task, options: LogPageOptions): Promise<readonly ThreadEvent[]> {
  const page = async (after: number) =>
    (await client.events(task.thread, { task: task.id, limit: eventsMax, ...options, after })).events
  try {
    return await page(options.after ?? 0)
  } catch (error) {
    if (!isHoldfastError(error, 'offset_gone')) throw error
    return page(Number(error.facts['first']) - 1)
  }
}
