import type { Task } from '../../../src/core/task.ts'
import { expectStatus } from '../../server/harness/client.ts'
import type { TestServer } from '../../server/harness/server.ts'

/** Accepts a run of the script agent, as alice. */
export function runScript(
  server: TestServer,
  thread: string,
  script: readonly object[],
  more: object = {},
): Promise<Task> {
  const body = { agent: 'script', input: { script }, ...more }
  return expectStatus(202, server.request<Task>('POST', `/v1/threads/${thread}/runs`, { body }))
}

/** The task once it has ended: its stream ends with it. */
export async function ended(server: TestServer, { thread, id }: Pick<Task, 'thread' | 'id'>): Promise<Task> {
  const headers = { accept: 'application/x-ndjson' }
  await server.request('GET', `/v1/threads/${thread}/events?task=${id}`, { headers })
  return expectStatus(200, server.request<Task>('GET', `/v1/tasks/${id}`))
}

/** Resolves when the log of a thread holds such an event. */
export async function logged(server: TestServer, thread: string, pattern: RegExp): Promise<void> {
  for (;;) {
    const { text } = await server.request('GET', `/v1/threads/${thread}/events?limit=1000`)
    if (pattern.test(text)) return
  }
}
