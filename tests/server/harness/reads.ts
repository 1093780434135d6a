import type { Event } from '../../../src/core/event.ts'
import type { Message } from '../../../src/core/message.ts'
import type { Task } from '../../../src/core/task.ts'
import { expectStatus } from './client.ts'
import type { TestServer } from './server.ts'

export interface Snapshot {
  readonly thread: string
  readonly head: number
  readonly first: number
  readonly watchers: number
  readonly messages: readonly Message[]
  readonly tasks: readonly Task[]
  readonly live: readonly { readonly task: string; readonly parts: Message['parts'] }[]
  readonly questions: readonly unknown[]
}

export interface Results {
  readonly results: readonly {
    readonly task: string
    readonly status: string
    readonly answer?: unknown
    readonly error?: { readonly code: string; readonly message: string }
  }[]
  readonly running: number
}

export function read<Body>(server: TestServer, path: string, as?: string): Promise<Body> {
  return expectStatus(200, server.request<Body>('GET', path, as === undefined ? {} : { as }))
}

export function taskOf(server: TestServer, id: string): Promise<Task> {
  return read(server, `/v1/tasks/${id}`)
}

export function snapshotOf(server: TestServer, thread: string, as?: string): Promise<Snapshot> {
  return read(server, `/v1/threads/${thread}`, as)
}

export async function messagesOf(server: TestServer, thread: string): Promise<readonly Message[]> {
  return (await read<{ messages: Message[] }>(server, `/v1/threads/${thread}/messages`)).messages
}

export function resultsOf(server: TestServer, thread: string): Promise<Results> {
  return read(server, `/v1/threads/${thread}/results`)
}

/** The whole log of a thread as it is now, page by page. */
export async function logOf(server: TestServer, thread: string, as?: string): Promise<Event[]> {
  const events: Event[] = []
  for (let after = 0; ; ) {
    const path = `/v1/threads/${thread}/events?after=${after}&limit=1000`
    const page = await read<{ events: Event[]; head: number; next: number }>(server, path, as)
    events.push(...page.events)
    if (page.next === page.head) return events
    after = page.next
  }
}

/** What was said in a message, joined. */
export function textOf(message: Message | undefined): string {
  return (message?.parts ?? []).map((part) => (part.type === 'text' ? part.text : '')).join('')
}

/** Spawns a background task of a script. */
export function spawnScript(
  server: TestServer,
  thread: string,
  script: readonly unknown[],
  more: Readonly<Record<string, unknown>> = {},
): Promise<Task> {
  const body = { agent: 'script', input: { script }, ...more }
  return expectStatus(202, server.request<Task>('POST', `/v1/threads/${thread}/tasks`, { body }))
}

/** The body of a request for a run of a script. */
export function scriptRun(script: readonly unknown[], more: Readonly<Record<string, unknown>> = {}) {
  return { agent: 'script', input: { script }, ...more }
}
