import type { Message } from '../../../src/core/message.ts'
import type { Task } from '../../../src/index.ts'
import { logOf, type Results, read } from '../../server/harness/reads.ts'
import type { TestServer } from '../../server/harness/server.ts'
import type { History, ThreadHistory } from '../history.ts'

const pageMax = 1000

/** Reads everything over HTTP. Nothing may be live any more. */
export async function readServedHistory(server: TestServer, threads: readonly string[]): Promise<History> {
  const histories = new Map<string, ThreadHistory>()
  for (const thread of threads) histories.set(thread, await readThread(server, thread))
  const tasks = await readTasks(server, '')
  return { threads: histories, tasks: new Map(tasks.map((task) => [task.id, task])) }
}

export async function liveTasks(server: TestServer): Promise<Task[]> {
  return [...(await readTasks(server, '&status=pending')), ...(await readTasks(server, '&status=running'))]
}

async function readThread(server: TestServer, thread: string): Promise<ThreadHistory> {
  const { head } = await read<{ head: number }>(server, `/v1/threads/${thread}`)
  const { results } = await read<Results>(server, `/v1/threads/${thread}/results`)
  const untaken = results.map(({ task }) => task)
  return { thread, head, log: await logOf(server, thread), messages: await readMessages(server, thread), untaken }
}

async function readMessages(server: TestServer, thread: string): Promise<Message[]> {
  const all: Message[] = []
  for (;;) {
    const path = `/v1/threads/${thread}/messages?limit=${pageMax}&after=${all.at(-1)?.seq ?? 0}`
    const { messages } = await read<{ messages: Message[] }>(server, path)
    all.push(...messages)
    if (messages.length < pageMax) return all
  }
}

async function readTasks(server: TestServer, filter: string): Promise<Task[]> {
  const all: Task[] = []
  for (let from = ''; ; ) {
    const path = `/v1/tasks?limit=${pageMax}${filter}${from}`
    const { tasks, cursor } = await read<{ tasks: Task[]; cursor?: string }>(server, path)
    all.push(...tasks)
    if (cursor === undefined) return all
    from = `&cursor=${encodeURIComponent(cursor)}`
  }
}
